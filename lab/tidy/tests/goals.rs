//! The table of goals follows from the committed reports, and each miss has its cause.

use std::process::Command;

use lab_tidy::repository::Repository;

#[test]
fn the_table_of_goals_follows_from_the_reports() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let mut table = Command::new("python3");
    table.arg(ours.root().join("tools/goals")).arg("--check");
    let output = table.output().expect("python3 is one of the tools of every environment");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
