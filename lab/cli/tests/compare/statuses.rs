//! Runs that end otherwise than others: no verdict and no ratio is made of them.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use tempfile::TempDir;

use crate::{compare, json, lab, text};

const NAMES: [&str; 4] = ["-n", "old", "-n", "new"];

#[test]
fn other_statuses_stand_on_the_verdicts_line_and_no_ratio_is_told() {
    let _attack = Attack::on("answers", "a command that fails at once and is accepted");
    let dir = TempDir::new().unwrap();
    let pair = ["sleep 0.01; echo", "echo; exit 3", "-i"];
    let files = ["--plot", "-", "--export-markdown", "page", "--record", "r"];
    let mut lab_ = lab(&dir, &[&pair[..], &NAMES, &files].concat());
    let ended = lab_.env("GITHUB_ACTIONS", "true").assert().code(11);
    let said = "new ends with status 3, old with status 0";
    let shown = text(&ended);
    let last: Vec<&str> = shown.lines().rev().take(2).collect();
    // A picture may stand above.
    assert_eq!(last[0], format!("new against old: withheld; {said}"));
    // Enough rounds to count, and no more.
    assert!(last[1].starts_with("10 rounds in "), "{shown}");
    assert!(!shown.contains(" × ") && !shown.contains("-9") && !shown.contains("vary"), "{shown}");
    assert!(shown.contains("there is nothing to draw"), "{shown}");
    ended.stderr(contains(format!("::warning title=new against old::withheld, 10 rounds; {said}")));
    let page = fs::read_to_string(dir.path().join("page")).unwrap();
    assert!(page.contains("| - | withheld |"), "{page}");
    // Of rounds that were kept too.
    let resumed = [&pair[..], &NAMES, &["--resume", "r", "--json"]].concat();
    let result = json(&lab(&dir, &resumed).assert().code(11));
    let candidate = &result["state"]["candidates"][0];
    assert_eq!(candidate["verdict"]["outcome"], "withheld");
    assert_eq!(
        candidate["endings"],
        serde_json::json!({
            "reference": { "0": 10 }, "candidate": { "3": 10 },
        })
    );
    assert_eq!(candidate["metrics"][0]["estimate"], serde_json::Value::Null);
    assert_eq!(result["mean_ratios"], serde_json::json!([null]));
}

#[test]
fn a_command_that_fails_now_and_then_is_not_timed_against_one_that_does_not() {
    let _attack = Attack::on("answers", "a command that fails in every third run");
    let dir = TempDir::new().unwrap();
    let flaky = "echo >> n; test $(($(wc -l < n) % 3)) != 0";
    let arguments = [&["true", flaky, "-i=1", "--runs", "12"], &NAMES[..]].concat();
    let ended = lab(&dir, &arguments).assert().code(11);
    ended.stdout(contains(" of 10 runs, old with status 0").and(contains("withheld")));
    let gate = lab(&dir, &[&arguments[..], &["--fail-on", "slower"]].concat()).assert();
    gate.code(11);
}

#[test]
fn crashes_are_compared_with_nothing_and_equal_failures_are() {
    let _attack = Attack::on("answers", "two commands that crash alike");
    let crash = "sh -c 'kill -11 $$'; exit $?";
    let ended = compare(&[&[crash, crash, "-i", "--runs", "12"], &NAMES[..]].concat()).code(11);
    ended.stdout(contains("withheld; ").and(contains("new ends with status 139 (signal 11)")));
    let killed = compare(&["true", "kill -9 $$", "-i"]).code(1);
    killed.stderr(contains("`kill -9 $$` was ended by signal 9"));
    let equal = compare(&["exit 1", "exit 1", "-i", "--runs", "12"]).code(11);
    equal.stdout(contains("withheld").not().and(contains("one program, so this is about")));
}

#[test]
fn a_run_that_fails_amid_the_rounds_is_told_with_its_last_words() {
    let dir = TempDir::new().unwrap();
    let late = "echo >> n; test $(wc -l < n) -lt 6 || { echo first >&2; echo last >&2; exit 4; }";
    let failed = lab(&dir, &["true", late, "--runs", "9"]).assert().code(1);
    failed.stderr(
        contains("` ended with status 4 in run ")
            .and(contains("; --ignore-failure accepts that:\n  | first\n  | last\n")),
    );
    // One that complains much while it is well is not made to wait for it.
    let loud = "echo >> m; head -c 100000 /dev/zero >&2; test $(wc -l < m) -lt 6 || exit 5";
    let failed = lab(&dir, &["true", loud, "--runs", "9"]).assert().code(1);
    failed.stderr(contains("; --ignore-failure accepts that\n"));
    let _attack = Attack::on("memory", "400 MB of complaints that begin amid the rounds");
    let flood = "echo >> o; test $(wc -l < o) -lt 6 || { head -c 400000000 /dev/zero >&2; echo \
                 last >&2; exit 6; }";
    let failed = lab(&dir, &["true", flood, "--runs", "9"]).assert().code(1);
    failed.stderr(contains("ended with status 6 in run ").and(contains("last\n")));
}
