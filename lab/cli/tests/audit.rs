//! `lab audit report.md` in a folder that has nothing else of ours.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::str::contains;
use tempfile::TempDir;

const REPORT: &str = "\
# Parsers

| Parser | Run 1 (ms) | Run 2 (ms) | Run 3 (ms) | Mean (ms) |
|--------|-----------:|-----------:|-----------:|----------:|
| simd   |        103 |        101 |        104 |     102.7 |
| arena  |        201 |        199 |        203 |     206.0 |
";

/// A folder with the report, and the command in it.
fn stranger(report: &str) -> (TempDir, Command) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("report.md"), report).unwrap();
    let program = fs::canonicalize(Path::new(env!("CARGO_BIN_EXE_lab"))).unwrap();
    let mut lab = Command::new(program);
    lab.current_dir(folder.path()).args(["audit", "report.md"]);
    (folder, lab)
}

#[test]
fn something_impossible_is_exit_code_one_with_its_line() {
    let (_folder, mut lab) = stranger(REPORT);
    lab.assert()
        .code(1)
        .stdout(contains("1 impossible"))
        .stdout(contains("report.md:6: impossible: `Mean (ms)` of arena is 206.0"));
}

#[test]
fn a_report_that_agrees_with_itself_is_exit_code_zero() {
    let (_folder, mut lab) = stranger(&REPORT.replace("206.0", "201.0"));
    lab.assert().code(0).stdout(contains("0 impossible, 0 doubtful"));
}

#[test]
fn json_is_one_object_with_every_finding() {
    let (_folder, mut lab) = stranger(REPORT);
    let output = lab.arg("--json").assert().code(1).get_output().stdout.clone();
    let json: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(json["impossible"], 1);
    let finding = &json["findings"][0];
    assert_eq!(finding["place"]["line"], 6);
    assert_eq!(
        (finding["stated"].as_f64(), &finding["severity"]),
        (Some(206.0), &"impossible".into())
    );
}

#[test]
fn what_cannot_be_read_is_exit_code_two_with_one_sentence() {
    let (folder, mut lab) = stranger(REPORT);
    fs::write(folder.path().join("runs.json"), "{\"results\": [").unwrap();
    lab.args(["--raw", "runs.json"]);
    lab.assert().code(2).stderr(contains("lab: runs.json is not valid JSON: "));
    let (_folder, mut lab) = stranger(REPORT);
    lab.args(["--raw", "missing.csv"]);
    lab.assert().code(2).stderr(contains("lab: cannot read missing.csv: "));
}
