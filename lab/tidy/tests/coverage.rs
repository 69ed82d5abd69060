//! The table of what published reports measure, and the page that is made of it.

use std::collections::BTreeSet;
use std::process::Command;

use lab_tidy::repository::Repository;

const TABLE: &str = "claims/coverage.tsv";
const STATES: [&str; 4] = ["works", "partial", "missing", "cannot"];

/// One thing of one report, how it stands here, and what shows it.
struct Row<'a> {
    id: &'a str,
    report: &'a str,
    item: &'a str,
    state: &'a str,
    evidence: &'a str,
    note: &'a str,
}

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

fn rows(table: &str) -> Vec<Row<'_>> {
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("id\treport\titem\tstate\tevidence\tnote"));
    lines.map(row).collect()
}

fn row(line: &str) -> Row<'_> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [id, report, item, state, evidence, note] = cells[..] else {
        panic!("six cells make a row: {line}");
    };
    Row { id, report, item, state, evidence, note }
}

#[test]
fn every_row_says_what_of_which_report_and_how_it_stands() {
    let ours = ours();
    let table = ours.read(TABLE);
    let rows = rows(&table);
    assert!(rows.len() > 200, "{}", rows.len());
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), rows.len(), "two rows have one id");
    for row in rows {
        assert!(STATES.contains(&row.state), "{}: {} is no state", row.id, row.state);
        assert!(row.item.ends_with('.'), "{}: {} is no sentence", row.id, row.item);
        let claims = format!("claims/{}.toml", row.report);
        assert!(ours.has(&claims), "{}: there is no report {}", row.id, row.report);
    }
}

#[test]
fn what_works_has_evidence_and_what_does_not_a_reason() {
    for row in rows(&ours().read(TABLE)) {
        let (works, shown) = (row.state == "works", !row.evidence.is_empty());
        assert!(shown || !works, "{} works, and nothing shows it", row.id);
        assert!(works || !row.note.is_empty(), "{} does not work, and nothing says why", row.id);
    }
}

#[test]
fn all_evidence_exists() {
    let ours = ours();
    let files: BTreeSet<String> = ours.files().into_iter().collect();
    for row in rows(&ours.read(TABLE)).iter().filter(|row| !row.evidence.is_empty()) {
        let (path, test) = row.evidence.split_once("::").unwrap_or((row.evidence, ""));
        assert!(files.contains(path), "{}: there is no {path}", row.id);
        let is_there = test.is_empty() || ours.read(path).contains(&format!("fn {test}("));
        assert!(is_there, "{}: there is no test {test} in {path}", row.id);
    }
}

#[test]
fn the_page_follows_from_the_table() {
    let mut page = Command::new("python3");
    page.arg(ours().root().join("tools/coverage")).arg("--check");
    let output = page.output().expect("python3 is one of the tools of every environment");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
