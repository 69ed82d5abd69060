//! Every report in reports/ is what its records give, to the byte.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use assert_cmd::assert::OutputAssertExt;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of sweeps. The others are pages of their own, which other tests check.
fn sweeps() -> Vec<PathBuf> {
    let folders = fs::read_dir(root().join("reports")).unwrap().map(|entry| entry.unwrap().path());
    let sweeps: Vec<_> = folders.filter(|folder| folder.join("run.json").exists()).collect();
    assert!(!sweeps.is_empty());
    sweeps
}

#[test]
fn committed_reports_follow_from_their_records() {
    for report in sweeps() {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.arg("--root").arg(root()).arg("report").arg(&report).arg("--check");
        lab.assert().success();
    }
}

#[test]
fn a_first_screen_is_one_and_its_links_lead_somewhere() {
    for report in sweeps() {
        let page = fs::read_to_string(report.join("report.md")).unwrap();
        let words = page.split_whitespace().count();
        assert!(words <= 600, "{}: {words} words", report.display());
        let details = fs::read_dir(report.join("details")).unwrap().count();
        let mut linked = 0;
        for link in page.split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            assert!(report.join(target).is_file(), "{}: {target}", report.display());
            linked += usize::from(target.starts_with("details/"));
        }
        assert_eq!(linked, details, "{}: a page that nobody finds", report.display());
    }
}
