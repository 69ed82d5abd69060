//! `.github/actions/audit`: its last step run as a runner would, on a made-up report.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const ACTION: &str = include_str!("../../../.github/actions/audit/action.yml");

const REPORT: &str = "| x | mean | min | max |\n|---|---|---|---|\n| a | 9.0 | 1.0 | 5.0 |\n";

/// The script of the last step.
fn script() -> String {
    let (_, script) = ACTION.rsplit_once("run: |\n").unwrap();
    script.lines().map(|line| format!("{}\n", line.get(8..).unwrap_or(""))).collect()
}

/// Runs the step with these inputs in a folder with the report.
fn step(folder: &TempDir, inputs: [(&str, &str); 4]) -> Output {
    let program = fs::canonicalize(Path::new(env!("CARGO_BIN_EXE_lab"))).unwrap();
    let own = std::env::var("PATH").unwrap();
    let path = format!("{}:{own}", program.parent().unwrap().display());
    fs::write(folder.path().join("report.md"), REPORT).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-e", "-o", "pipefail", "-c", &script()]).current_dir(folder.path());
    bash.env("PATH", path).envs(inputs).env("RUNNER_TEMP", folder.path());
    bash.env("GITHUB_OUTPUT", folder.path().join("output"));
    bash.env("GITHUB_STEP_SUMMARY", folder.path().join("summary"));
    bash.output().unwrap()
}

fn inputs<'a>(documents: &'a str, fail_on: &'a str) -> [(&'a str, &'a str); 4] {
    [("DOCUMENTS", documents), ("AGAINST", ""), ("FAIL_ON", fail_on), ("BASELINE", "")]
}

#[test]
fn a_report_that_cannot_be_true_fails_the_job_with_its_line() {
    let folder = TempDir::new().unwrap();
    let output = step(&folder, inputs("'report.md'", "impossible"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("::error file=report.md,line=3,"), "{text}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("summary").contains("### report.md"));
    assert!(read("output").contains("sarif="));
    assert!(read("lab-audit.sarif").contains("outside_of_extremes"));
}

#[test]
fn never_fails_not_even_then() {
    let folder = TempDir::new().unwrap();
    let output = step(&folder, inputs("*.md", "never"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn every_input_is_used() {
    let (inputs, steps) = ACTION.split_once("outputs:").unwrap();
    let names = inputs.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.map(|line| line.trim().trim_end_matches(':')).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    for name in names {
        assert!(steps.contains(&format!("${{{{ inputs.{name} }}}}")), "{name}");
    }
    // A value inside a script would be run as a part of it.
    assert!(!script().contains("${{"));
}
