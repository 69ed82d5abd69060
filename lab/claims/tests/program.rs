//! `claims` as maintainers run it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use tempfile::TempDir;

fn claims(root: &Path) -> Command {
    let mut claims = Command::new(env!("CARGO_BIN_EXE_claims"));
    claims.arg("--root").arg(root);
    claims
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

const CLAIMS: &str = r#"
schema = 1
[document]
id = "tea"
title = "Which kettle is faster?"
file = "tea.md"
sha256 = "0"
source = "made up"
licence = "none"
[[metric]]
id = "latency"
unit = "s"
better = "lower"
[[raw]]
name = "tea_runs"
file = "runs.csv"
sha256 = "0"
source = "made up"
kind = "csv"
[[derive]]
id = "by_kettle"
raw = "tea_runs"
metric = "latency"
value = "ms / 1000"
subject = "kettle"
statistics = ["mean", "max"]
[[claim]]
id = "steel"
says = "steel needs two seconds"
section = "1"
line = 3
metric = "latency"
statistic = "mean"
subject = "steel"
value = "2.0"
[[claim]]
id = "steel_again"
says = "steel needs three seconds"
section = "2"
line = 9
metric = "latency"
statistic = "mean"
subject = "steel"
value = "3.0"
"#;

fn tea() -> TempDir {
    let root = TempDir::new().unwrap();
    fs::create_dir_all(root.path().join("claims")).unwrap();
    fs::create_dir_all(root.path().join("reports")).unwrap();
    fs::write(root.path().join("claims/tea.toml"), CLAIMS).unwrap();
    let runs = "kettle,ms\nsteel,1900\nsteel,2100\nglass,2500\n";
    fs::write(root.path().join("runs.csv"), runs).unwrap();
    root
}

#[test]
fn the_committed_page_follows_from_claims_and_reports() {
    claims(&repository()).arg("--check").assert().success();
}

#[test]
fn what_is_stated_twice_is_found_with_its_lines() {
    let root = tea();
    let out = claims(root.path()).arg(root.path().join("claims/tea.toml")).assert().code(1);
    out.stdout(contains("2.0 s (line 3), as 3.0 s (line 9)"));
}

#[test]
fn a_reader_that_is_gone_changes_no_code() {
    let root = tea();
    for documents in [vec![], vec![root.path().join("claims/tea.toml")]] {
        let mut claims = claims(root.path());
        let claims = claims.args(documents).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = claims.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
    }
}

#[test]
fn facts_are_stored_compared_and_used() {
    let root = tea();
    let raw = root.path().join("runs.csv");
    let with_raw = |more: &[&str]| claims(root.path()).arg("--raw").arg(&raw).args(more).assert();
    with_raw(&[]).code(1).stdout(contains("none stored"));
    with_raw(&["--write"]).success();
    with_raw(&[]).success().stdout(contains("all as stored"));
    claims(root.path()).assert().code(1).stdout(contains("the raw data give 2.00"));
    fs::write(&raw, "kettle,ms\nsteel,1900\nsteel,2900\n").unwrap();
    with_raw(&[]).code(1).stdout(contains("mean latency of steel: 2, not 2.4"));
}

#[test]
fn a_page_is_written_and_checked() {
    let root = tea();
    claims(root.path()).arg("--write").assert().success();
    claims(root.path()).arg("--check").assert().success();
    let page = root.path().join("reports/claims/report.md");
    fs::write(&page, fs::read_to_string(&page).unwrap() + "More.\n").unwrap();
    claims(root.path()).arg("--check").assert().code(1);
}

#[test]
fn a_claim_file_that_is_wrong_is_named_with_its_key() {
    let root = tea();
    let path = root.path().join("claims/tea.toml");
    fs::write(&path, CLAIMS.replace("better = ", "beter = ")).unwrap();
    claims(root.path()).assert().code(2).stderr(contains("tea.toml").and(contains("beter")));
}
