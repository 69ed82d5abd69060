//! Every report in reports/ is what its records give, to the byte.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use assert_cmd::assert::OutputAssertExt;

#[test]
fn committed_reports_follow_from_their_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = fs::read_dir(root.join("reports")).unwrap().map(|entry| entry.unwrap().path());
    // Of no sweep: the page of the claims, which tests/claims.rs checks, and the proof of `lab
    // compare`, which a test of lab/compare-trial does.
    let others = ["claims.tsv", "replays.tsv"];
    let recorded =
        |folder: &PathBuf| folder.is_dir() && !others.iter().any(|file| folder.join(file).exists());
    let reports: Vec<_> = folders.filter(recorded).collect();
    assert!(!reports.is_empty());
    for report in reports {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.arg("--root").arg(&root).arg("report").arg(&report).arg("--check");
        lab.assert().success();
    }
}
