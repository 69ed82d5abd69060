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
    lab.assert().code(0).stdout(contains("0 impossible, 0 inconsistent"));
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

#[test]
fn several_documents_globs_and_standard_input() {
    let (folder, mut lab) = stranger(REPORT);
    fs::create_dir(folder.path().join("more")).unwrap();
    fs::write(folder.path().join("more/sound.md"), REPORT.replace("206.0", "201.0")).unwrap();
    lab.args(["more/*.md", "more"]);
    lab.assert().code(1).stdout(contains("report.md:6: ")).stdout(contains("more/sound.md: 1 tab"));
    let (_folder, mut lab) = stranger(REPORT);
    lab.arg("nothing/*.md");
    lab.assert().code(2).stderr(contains("lab: no file matches nothing/*.md"));
    let program = fs::canonicalize(Path::new(env!("CARGO_BIN_EXE_lab"))).unwrap();
    let mut lab = Command::new(program);
    lab.args(["audit", "-"]).write_stdin(REPORT).assert().code(1).stdout(contains("stdin:6: "));
}

#[test]
fn the_grade_that_fails_and_what_is_known_are_chosen() {
    let (folder, mut lab) = stranger(REPORT);
    lab.args(["--fail-on", "never"]).assert().code(0);
    let (_other, mut lab) = stranger(REPORT);
    lab.args(["--write-baseline", "known.txt"]).assert().code(0);
    let known = fs::read_to_string(_other.path().join("known.txt")).unwrap();
    fs::write(folder.path().join("known.txt"), known).unwrap();
    let (_third, mut lab) = stranger(REPORT);
    lab.current_dir(folder.path()).args(["--baseline", "known.txt"]);
    lab.assert().code(0).stdout(contains("1 hidden"));
    let quiet = format!("<!-- lab-audit: ignore mean_of_runs: a typo of theirs -->\n{REPORT}");
    let (_fourth, mut lab) = stranger(&quiet.replace("# Parsers\n\n", ""));
    lab.assert().code(0).stdout(contains("1 hidden"));
}

#[test]
fn what_is_no_text_is_refused_in_one_sentence() {
    let (folder, mut lab) = stranger(REPORT);
    fs::write(folder.path().join("odd.md"), [0_u8; 512]).unwrap();
    lab.arg("odd.md").assert().code(2).stderr(contains("lab: odd.md is binary, not text"));
    let (folder, mut lab) = stranger(REPORT);
    let wide: Vec<u8> = REPORT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(folder.path().join("report.md"), wide).unwrap();
    lab.assert().code(1).stdout(contains("report.md:6: impossible"));
    let (_folder, mut lab) = stranger("Words alone.\n");
    lab.assert().code(0).stdout(contains("warning: nothing could be checked"));
}
