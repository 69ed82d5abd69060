//! `.ci/run` against an environment that is made up: when it falls back to Cargo, and when not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use lab_tidy::repository::Repository;
use tempfile::TempDir;

/// The summary that Rust's test harness ends with.
const SUMMARY: &str = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured";

/// Runs `.ci/run` with shell texts in the places of ./enter and cargo.
fn ci(enter: &str, cargo: &str) -> Output {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let dir = TempDir::new().unwrap();
    let tools = dir.path().join("tools");
    fs::create_dir(&tools).unwrap();
    for (name, text) in [("enter", enter), ("cargo", cargo)] {
        let path = tools.join(name);
        fs::write(&path, format!("#!/bin/sh\nLOGS='{}'\n{text}\n", dir.path().display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new(ours.root().join(".ci/run"))
        .env("LAB_CI_ENTER", tools.join("enter"))
        .env("LAB_CI_LOGS", dir.path().join("logs"))
        .env("PATH", format!("{}:{path}", tools.display()))
        .output()
        .unwrap()
}

/// The last line and whether the run was a success.
fn verdict(output: &Output) -> (String, bool) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text.lines().last().unwrap_or_default().to_owned(), output.status.success())
}

/// An ./enter whose Bazel tested one target with this outcome and log, and ended with `status`.
fn bazel(outcome: &str, log: &str, status: u8) -> String {
    format!(
        r#"case "$1" in
--which) echo "environment: made up" ;;
bazel)
  echo '{log}' >"$LOGS/test.log"
  cat >"$LOGS/logs/events.json" <<EVENTS
{{"id":{{"targetCompleted":{{"label":"//a:test"}}}},"completed":{{"success":true}}}}
{{"id":{{"testResult":{{"label":"//a:test"}}}},"testResult":{{"status":"{outcome}",
"testActionOutput":[{{"name":"test.log","uri":"file://$LOGS/test.log"}}]}}}}
EVENTS
  exit {status} ;;
python3) exec "$@" ;;
esac"#
    )
    .replace(",\n\"testActionOutput\"", ",\"testActionOutput\"")
}

#[test]
fn single_tests_are_counted() {
    let output = ci(&bazel("PASSED", SUMMARY, 0), "exit 1");
    assert_eq!(verdict(&output), ("5 passed, 0 failed, 1 skipped".to_owned(), true));
}

/// A test that found out while it ran that it cannot, twice; and the harness's summary.
fn with_a_skip() -> String {
    let skip = "SKIPPED a_peer_is_right: there is no peer";
    format!("test a_peer_is_right ... {skip}\nok\n{skip}\n{SUMMARY}")
}

#[test]
fn a_test_that_says_so_while_it_runs_is_skipped() {
    let output = ci(&bazel("PASSED", &with_a_skip(), 0), "exit 1");
    assert_eq!(verdict(&output), ("4 passed, 0 failed, 2 skipped".to_owned(), true));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("skipped: //a:test a_peer_is_right: there is no peer"), "{said}");
    let output = ci("exit 69", &format!("echo '{}'", with_a_skip()));
    let line = "FALLBACK to cargo test: 4 passed, 0 failed, 2 skipped".to_owned();
    assert_eq!(verdict(&output), (line, true));
}

#[test]
fn a_shell_test_counts_as_one() {
    let output = ci(&bazel("PASSED", "fine", 0), "exit 1");
    assert_eq!(verdict(&output), ("1 passed, 0 failed".to_owned(), true));
}

#[test]
fn a_test_that_was_killed_fails_though_its_log_is_good() {
    let output = ci(&bazel("TIMEOUT", SUMMARY, 3), "exit 1");
    assert_eq!(verdict(&output), ("5 passed, 1 failed, 1 skipped".to_owned(), false));
}

#[test]
fn a_failing_bazel_never_falls_back() {
    let cargo = format!("echo '{SUMMARY}'");
    let output = ci("case \"$1\" in --which) ;; bazel) exit 69 ;; *) exec \"$@\" ;; esac", &cargo);
    assert_eq!(verdict(&output), ("0 passed, 1 failed".to_owned(), false));
}

#[test]
fn an_environment_that_cannot_be_entered_fails() {
    let output = ci("exit 70", &format!("echo '{SUMMARY}'"));
    assert_eq!(verdict(&output), ("0 passed, 1 failed".to_owned(), false));
}

#[test]
fn a_failing_package_manager_falls_back_to_cargo_and_says_so() {
    let output = ci("echo no mirror >&2; exit 69", &format!("echo '{SUMMARY}'; echo '{SUMMARY}'"));
    let line = "FALLBACK to cargo test: 10 passed, 0 failed, 2 skipped".to_owned();
    assert_eq!(verdict(&output), (line, true));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no mirror"));
}

#[test]
fn a_fallback_that_does_not_compile_fails() {
    let output = ci("exit 69", "exit 101");
    let line = "FALLBACK to cargo test: 0 passed, 1 failed".to_owned();
    assert_eq!(verdict(&output), (line, false));
}
