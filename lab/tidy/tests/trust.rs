//! The pages of the lab's own errors, of load generators and of what a token takes follow from
//! their tables.

use std::process::Command;

use lab_tidy::repository::Repository;

#[test]
fn the_page_of_load_generators_follows_from_its_runs() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    if !ours.has("reports/clients/runs.jsonl") {
        return;
    }
    let mut page = Command::new(ours.root().join("tools/proof"));
    page.args(["clients", "page"]).arg(ours.root().join("reports/clients")).arg("--check");
    let output = page.output().expect("python3 is one of the tools of every environment");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_page_of_the_labs_own_errors_follows_from_its_tables() {
    let root = Repository::of_package(env!("CARGO_MANIFEST_DIR")).root().to_owned();
    let mut page = Command::new(root.join("tools/proof"));
    page.arg("page").arg(root.join("reports/trust")).arg("--check");
    let output = page.output().expect("python3 is one of the tools of every environment");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
