//! `lab report` outside of a checkout, and on what is no results folder.

use std::{fs, path::Path, process::Command};

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;

/// In a folder that is no checkout.
fn report(dir: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let lab = std::env::current_dir().unwrap().join(env!("CARGO_BIN_EXE_lab"));
    let mut lab = Command::new(lab);
    lab.env_remove("BUILD_WORKSPACE_DIRECTORY").current_dir(dir).arg("report").args(args).assert()
}

#[test]
fn what_is_no_results_folder_is_said_in_words() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let cases = [
        (
            ".",
            ". is no results folder: it holds no run.json; give a folder of results/ or reports/",
        ),
        ("file", "file is no results folder: it is a file; give"),
        ("none", "none is no results folder: it does not exist; give"),
    ];
    for (given, sentence) in cases {
        report(dir.path(), &[given]).code(4).stderr(contains(sentence));
        report(dir.path(), &[given, "--check"]).code(4).stderr(contains(sentence));
    }
}

#[test]
fn a_report_needs_no_checkout_but_for_its_pictures() {
    let dir = tempfile::tempdir().unwrap();
    let reports =
        std::env::current_dir().unwrap().join(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let recorded = |folder: &Path| folder.join("run.json").exists();
    let mut folders = fs::read_dir(reports).unwrap().map(|entry| entry.unwrap().path());
    let records = folders.find(|folder| recorded(folder)).unwrap();
    let records = records.to_str().unwrap();
    report(dir.path(), &[records, "--check"]).code(0);
    let run = report(dir.path(), &[records, "--out", "r"]);
    run.code(0).stdout("r/report.md\n").stderr(contains("no pictures: plots/ of a checkout"));
    assert!(dir.path().join("r/report.md").is_file());
}
