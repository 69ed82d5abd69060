//! The list of checks that readers have, against the names that findings carry.

use std::collections::BTreeSet;
use std::path::Path;

use lab_audit::CHECKS;

#[test]
fn every_check_has_a_line_in_the_list_and_every_line_a_check() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit-checks.tsv");
    let text = std::fs::read_to_string(path).expect("docs/ has the list");
    let mut rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = rows.next().unwrap_or_default();
    assert_eq!(head, ["of", "check", "grade", "compares", "example"]);
    let mut listed = BTreeSet::new();
    let mut lines = BTreeSet::new();
    for row in rows {
        assert!(row.len() == 5 && row.iter().all(|cell| !cell.trim().is_empty()), "{row:?}");
        assert!(lines.insert((row[0], row[1])), "{row:?} has two lines");
        listed.insert(row[1]);
    }
    // What a claim file declares itself has the name that it gives there.
    assert!(listed.remove("[[check]]"), "declared checks have no line");
    let known: BTreeSet<&str> = CHECKS.iter().copied().collect();
    assert_eq!(known.len(), CHECKS.len(), "two checks of one name");
    let missing: Vec<_> = known.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&known).collect();
    assert!(missing.is_empty() && gone.is_empty(), "without a line: {missing:?}; gone: {gone:?}");
}
