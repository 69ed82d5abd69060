//! The pages of the lab's own errors, of load generators and of what a token takes follow from
//! their tables.

use std::process::Command;

use lab_tidy::repository::Repository;

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

fn follows(writer: &[&str], folder: &str) {
    let root = ours().root().to_owned();
    let mut page = Command::new(root.join(writer[0]));
    page.args(&writer[1..]).arg(root.join(folder)).arg("--check");
    let output = page.output().expect("python3 is one of the tools of every environment");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_page_of_load_generators_follows_from_its_runs() {
    follows(&["tools/proof", "clients", "page"], "reports/clients");
}

#[test]
fn the_page_of_the_labs_own_errors_follows_from_its_tables() {
    follows(&["tools/proof", "page"], "reports/trust");
}

#[test]
fn the_page_of_what_a_token_takes_follows_from_its_tables() {
    if ours().has("reports/per-token/syscalls.tsv") {
        follows(&["tools/per-token"], "reports/per-token");
    }
}
