//! The table of faults names tests that exist.

use lab_tidy::repository::Repository;

#[test]
fn every_row_of_the_table_of_faults_names_tests_that_exist() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let text = ours.read("docs/FAULTS.md");
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| --- ");
    let rows = text.lines().filter(is_row).filter(|line| !line.starts_with("| fault |"));
    let mut named = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 3, "{row}");
        let mut source = None;
        for (turn, part) in cells[2].split('`').enumerate() {
            if turn % 2 == 0 {
                continue;
            }
            if part.ends_with(".rs") {
                source = Some(ours.read(part));
                continue;
            }
            let source = source.as_ref().expect("a file is named before its tests");
            assert!(source.contains(&format!("fn {part}(")), "there is no test {part}: {row}");
            named += 1;
        }
        assert!(source.is_some(), "no test is named: {row}");
    }
    assert!(named > 30, "{named}");
}
