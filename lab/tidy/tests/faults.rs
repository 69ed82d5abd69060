//! The table of faults names tests that exist.

use lab_tidy::repository::Repository;

#[test]
fn every_row_of_the_table_of_faults_names_tests_that_exist() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let table = ours.read("docs/faults.tsv");
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("where\tfault\twhat_happens\ttests"));
    let mut named = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [_, _, _, tests] = cells[..] else { panic!("four cells make a row: {row}") };
        assert!(!tests.is_empty(), "no test is named: {row}");
        for one in tests.split(' ') {
            let (source, test) = one.split_once("::").expect("FILE::TEST");
            let exists = ours.read(source).contains(&format!("fn {test}("));
            assert!(exists, "there is no test {test} in {source}: {row}");
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}
