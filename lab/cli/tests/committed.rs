//! Every report in reports/ is what its records give, to the byte.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use assert_cmd::assert::OutputAssertExt;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of reports that hold this file.
fn reports_with(file: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(root().join("reports")).unwrap().map(|entry| entry.unwrap().path());
    let reports: Vec<_> = folders.filter(|folder| folder.join(file).exists()).collect();
    assert!(!reports.is_empty());
    reports
}

#[test]
fn committed_reports_follow_from_their_records() {
    // Those of sweeps. The others are pages of their own, which other tests check.
    for report in reports_with("run.json") {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.arg("--root").arg(root()).arg("report").arg(&report).arg("--check");
        lab.assert().success();
    }
}

#[test]
fn a_first_screen_is_one_and_its_links_lead_somewhere() {
    for report in reports_with("report.md") {
        let page = fs::read_to_string(report.join("report.md")).unwrap();
        let words = page.split_whitespace().count();
        assert!(words <= 600, "{}: {words} words", report.display());
        let details = fs::read_dir(report.join("details")).unwrap().count();
        let mut linked = BTreeSet::new();
        for link in page.split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            assert!(report.join(target).exists(), "{}: {target}", report.display());
            linked.extend(target.starts_with("details/").then_some(target));
        }
        assert_eq!(linked.len(), details, "{}: a page that nobody finds", report.display());
    }
}
