//! How `lab compare` ends: what it leaves running, what it writes, and who still reads it.

use std::{
    fs,
    io::Write,
    os::unix::fs::{MetadataExt, symlink},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use assert_cmd::assert::OutputAssertExt;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use predicates::{
    prelude::{PredicateBooleanExt, predicate},
    str::contains,
};
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

use crate::{compare, json, lab, text};

/// Leaves a session of its own running, and its number in `pids`.
const DAEMON: &str = "rm -f up; setsid sh -c 'echo $$ >> pids; touch up; exec sleep 998' &
    while ! test -e up; do sleep 0.01; done";

fn left(dir: &TempDir) -> Vec<String> {
    let pids = fs::read_to_string(dir.path().join("pids")).unwrap_or_default();
    pids.lines().map(str::to_owned).collect()
}

fn is_there(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|text| !text.contains(") Z "))
}

#[track_caller]
fn all_ended(dir: &TempDir, at_least: usize) {
    let left = left(dir);
    assert!(left.len() >= at_least, "{left:?}");
    let still: Vec<&String> = left.iter().filter(|process| is_there(process)).collect();
    assert_eq!(still, [""; 0]);
}

fn until(condition: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("that did not come about");
}

#[test]
fn sessions_that_commands_begin_end_with_the_comparison() {
    let _attack = Attack::on("kills", "a command that leaves a session running");
    let dir = TempDir::new().unwrap();
    lab(&dir, &[DAEMON, "true", "--runs", "2", "--seed", "1"]).assert().code(11);
    // Twice for the check and in two rounds, and maybe to wash the first of them.
    let daemons = left(&dir).len();
    assert!((4..=5).contains(&daemons), "{daemons}");
    all_ended(&dir, daemons);
    let hangs = format!("{DAEMON}; sleep 997");
    let _attack = Attack::on("kills", "a command that hangs beside its session");
    let ended = lab(&dir, &["true", &hangs, "--timeout", "2"]).assert().code(1);
    ended.stderr(contains("was ended after 2 s, the --timeout"));
    all_ended(&dir, daemons + 1);
    for option in ["--prepare", "--setup", "--cleanup", "--check"] {
        let _attack = Attack::on("kills", &format!("{option} leaves a session running"));
        let before = left(&dir).len();
        lab(&dir, &["true", "true", "--runs", "1", option, DAEMON]).assert().code(11);
        all_ended(&dir, before + 1);
    }
    let before = left(&dir).len();
    lab(&dir, &["true", &format!("{DAEMON}; exit 3")]).assert().code(1);
    all_ended(&dir, before + 1);
}

#[test]
fn sessions_end_with_an_interrupted_comparison() {
    let _attack = Attack::on("kills", "an interrupted comparison with a session");
    let dir = TempDir::new().unwrap();
    let mut child = quiet(lab(&dir, &[&format!("{DAEMON}; sleep 997"), "true"]));
    until(|| !left(&dir).is_empty());
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    all_ended(&dir, 1);
}

#[test]
fn a_server_of_setup_is_there_until_after_cleanup() {
    let dir = TempDir::new().unwrap();
    let (client, cleanup) = ("kill -0 $(cat pids)", "kill -0 $(cat pids) && touch seen");
    let arguments = [client, client, "--setup", DAEMON, "--cleanup", cleanup, "--runs", "5"];
    lab(&dir, &arguments).assert().code(11);
    assert!(dir.path().join("seen").exists());
    all_ended(&dir, 1);
}

#[test]
fn what_the_user_started_before_is_left_running() {
    let dir = TempDir::new().unwrap();
    let lab = lab(&dir, &["true", "true", "--runs", "1"]);
    // The shell becomes the lab, and its child the lab's.
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 99 > log 2>&1 & echo $! > pids; exec \"$@\"", "sh"]);
    shell.arg(lab.get_program()).args(lab.get_args()).current_dir(&dir);
    for (name, _) in lab.get_envs() {
        shell.env_remove(name);
    }
    shell.assert().code(11);
    let server = &left(&dir)[0];
    assert!(is_there(server));
    kill(Pid::from_raw(server.parse().unwrap()), Signal::SIGKILL).unwrap();
}

/// Started, with nobody who reads it.
fn quiet(mut lab: Command) -> Child {
    lab.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn every_margin_is_gone_on_with() {
    let dir = TempDir::new().unwrap();
    for tenths in 1..=30 {
        let margin = (f64::from(tenths) / 10.0).to_string();
        let file = format!("rounds-{tenths}");
        let with = |option: &str, runs: &str| {
            let arguments = ["true", "true", "-N", "--runs", runs, "--margin", &margin];
            lab(&dir, &[&arguments[..], &[option, &file]].concat()).assert().code(11)
        };
        with("--record", "1");
        with("--resume", "2").stdout(contains("2 rounds"));
    }
    let other = ["true", "true", "-N", "--margin", "0.7", "--resume", "rounds-8"];
    let refused = lab(&dir, &other).assert().code(4);
    refused.stderr(contains("rounds-8: holds another comparison, by --margin; give the same"));
}

#[test]
fn rounds_of_other_bytes_are_not_gone_on_with() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("in", "one");
    write("same", "one");
    write("other", "two");
    // By another process: a program that is still open for writing cannot be started.
    let tool = |line: &str| {
        let script = format!("printf '#!/bin/sh\n{line}\n' > tool && chmod +x tool");
        Command::new("sh").args(["-c", &script]).current_dir(&dir).assert().success();
    };
    tool("true");
    let with = |more: &[&str]| {
        lab(&dir, &[&["./tool", "cat", "--runs", "1", "--check", "status"], more].concat()).assert()
    };
    with(&["--input", "in", "--record", "r"]).code(11);
    with(&["--input", "same", "--resume", "r"]).code(11);
    let refused = |more: &[&str], part: &str| {
        let _attack = Attack::on("records", &format!("another {part} for --resume: {more:?}"));
        let sentence = format!("r: holds another comparison, by {part}; give the same");
        with(&[more, &["--resume", "r"]].concat()).code(4).stderr(contains(sentence));
    };
    refused(&["--input", "other"], "the bytes of --input");
    refused(&[], "the bytes of --input");
    refused(&["--input", "in", "--output", "pipe"], "--output");
    tool("true again");
    refused(&["--input", "in"], "the bytes of a program");
}

#[test]
fn rounds_that_another_comparison_adds_to_are_left_to_it() {
    let _attack = Attack::on("records", "two comparisons that add to one recording");
    let dir = TempDir::new().unwrap();
    // So little is not shown before it is killed.
    let commands = ["sleep 0.01", "sleep 0.01", "--margin", "0.001"];
    let mut child = quiet(lab(&dir, &[&commands[..], &["--record", "r"]].concat()));
    let lines = || fs::read_to_string(dir.path().join("r")).unwrap_or_default().lines().count();
    until(|| lines() > 2);
    let refused = lab(&dir, &[&commands[..], &["--resume", "r"]].concat()).assert().code(4);
    refused.stderr(contains("r: is in use by another comparison; wait for its end"));
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = lab(&dir, &[&commands[..], &["--resume", "r", "--runs", "3"]].concat()).assert();
    // Enough rounds for a verdict may have been made before it was killed.
    resumed.code(predicate::in_iter([0, 11]));
}

#[test]
fn rounds_are_not_added_to_a_file_that_was_removed() {
    let _attack = Attack::on("records", "a recording that is removed while it is waited for");
    let dir = TempDir::new().unwrap();
    lab(&dir, &["true", "true", "--runs", "1", "--record", "r"]).assert().code(11);
    let path = dir.path().join("r");
    let file = fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let mut lab = lab(&dir, &["true", "true", "--runs", "2", "--resume", "r"]);
    let child = lab.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let identity = |file: fs::Metadata| (file.dev(), file.ino());
    let record = identity(file.metadata().unwrap());
    until(|| {
        let open = fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten();
        let mut open = open.flatten().filter_map(|open| fs::metadata(open.path()).ok());
        open.any(|open| identity(open) == record)
    });
    fs::remove_file(&path).unwrap();
    drop(file);
    let refused = child.wait_with_output().unwrap().assert().code(4);
    refused.stderr(contains("lab: r: was removed while it was in use; begin again with --record"));
    assert!(!path.exists());
}

#[test]
fn a_record_without_a_round_is_in_nobodys_way() {
    let _attack = Attack::on("records", "a round without statuses");
    let dir = TempDir::new().unwrap();
    lab(&dir, &["true", "no-such-program", "--record", "r"]).assert().code(2);
    assert!(!dir.path().join("r").exists());
    lab(&dir, &["true", "true", "--runs", "1", "--record", "r"]).assert().code(11);
    let text = crate::chains::unchained(&fs::read_to_string(dir.path().join("r")).unwrap());
    fs::write(dir.path().join("r"), text.replace("\"statuses\":[0,0]", "\"statuses\":[]")).unwrap();
    let arguments = ["true", "true", "--resume", "r", "--export-json", "a"];
    let torn = lab(&dir, &arguments).assert().code(4);
    torn.stderr(contains("r: has a round without a status for each run"));
}

#[test]
fn a_file_that_cannot_be_written_is_told_of_before_anything_runs() {
    let dir = TempDir::new().unwrap();
    let ran = ["echo >> ran", "true", "--setup", "echo >> ran"];
    for option in ["--export-json", "--export-markdown", "--plot", "--output"] {
        for file in ["no/a.svg", "folder.svg"] {
            let _attack =
                Attack::on("links", &format!("{option} names {file}, which cannot be written"));
            let _ = fs::create_dir(dir.path().join("folder.svg"));
            let refused = lab(&dir, &[&ran[..], &[option, file]].concat()).assert().code(4);
            refused.stderr(contains(format!("lab: {option}: cannot write {file}: ")));
        }
    }
    for option in ["--spend", "--record"] {
        let refused = lab(&dir, &[&ran[..], &[option, "no/a"]].concat()).assert().code(4);
        refused.stderr(contains("no/a: "));
    }
    let mut of_job = lab(&dir, &ran);
    of_job.env("GITHUB_ACTIONS", "true").env("GITHUB_OUTPUT", "no/output");
    let refused = of_job.assert().code(4);
    refused.stderr(contains("GITHUB_OUTPUT: cannot write no/output: "));
    // What could be written is neither made nor emptied by a comparison that does not get there.
    fs::write(dir.path().join("old.json"), "old").unwrap();
    let files = ["--export-json", "old.json", "--export-markdown", "new.md", "--plot", "new.svg"];
    lab(&dir, &[&["true", "exit 3"], &files[..]].concat()).assert().code(1);
    assert_eq!(fs::read_to_string(dir.path().join("old.json")).unwrap(), "old");
    let names: Vec<_> = fs::read_dir(&dir).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn one_file_is_not_written_by_two_options() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("in"), "text").unwrap();
    symlink("in", dir.path().join("link")).unwrap();
    for (files, sentence) in [
        (
            ["--export-json", "a", "--export-markdown", "./a"],
            "--export-json and --export-markdown name the same file, ./a; name two",
        ),
        (["--input", "in", "--output", "link"], "--output and --input name the same file"),
        (["--spend", "s", "--export-json", "s"], "--export-json and --spend name the same file"),
    ] {
        let _attack = Attack::on("links", &format!("one file for two: {files:?}"));
        let refused = lab(&dir, &[&["true", "true"], &files[..]].concat()).assert().code(2);
        refused.stderr(contains(sentence));
    }
    assert_eq!(fs::read_to_string(dir.path().join("in")).unwrap(), "text");
    let twice = ["--export-json", "/dev/null", "--export-markdown", "/dev/null", "--runs", "1"];
    lab(&dir, &[&["true", "true"], &twice[..]].concat()).assert().code(11);
    // The page of a job that --export-markdown writes is not appended to.
    let mut of_job = lab(&dir, &["true", "true", "--export-markdown", "page", "--runs", "1"]);
    of_job.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", "page");
    of_job.assert().code(11);
    let page = fs::read_to_string(dir.path().join("page")).unwrap();
    assert_eq!(page.matches("| Command |").count(), 1, "{page}");
}

#[test]
fn a_reader_that_is_gone_takes_nothing_away() {
    let dir = TempDir::new().unwrap();
    let arguments = ["sleep 0.01", "true", "--runs", "3", "--export-json", "a", "--plot", "-"];
    for (gone, json) in [("stdout", false), ("stdout", true), ("both", false)] {
        let _attack = Attack::on("kills", &format!("the reader of {gone} is gone, JSON: {json}"));
        let _ = fs::remove_file(dir.path().join("a"));
        let mut lab = lab(&dir, &[&arguments[..], if json { &["--json"] } else { &[] }].concat());
        let mut child = lab.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        if gone == "both" {
            drop(child.stderr.take());
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(11), "{errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        let runs = fs::read_to_string(dir.path().join("a")).unwrap();
        let runs: Value = serde_json::from_str(&runs).unwrap();
        assert_eq!(runs["results"][0]["times"].as_array().unwrap().len(), 3);
    }
    // A sentence for nobody keeps its code.
    let mut child = lab(&dir, &["true"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
    if Path::new("/dev/full").exists() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let full = lab(&dir, &arguments).stdout(full).assert().code(4);
        full.stderr(contains("cannot print the result: "));
        assert!(dir.path().join("a").exists());
    }
}

#[test]
fn what_fails_after_the_last_round_takes_no_result_away() {
    let dir = TempDir::new().unwrap();
    let arguments = ["true", "true", "--runs", "2", "--cleanup", "exit 5", "--export-json", "a"];
    let failed = lab(&dir, &arguments).assert().code(1);
    let failed = failed.stderr(contains("lab: --cleanup `exit 5` ended with status 5"));
    assert!(text(&failed).contains("cannot tell true from true"), "{}", text(&failed));
    assert!(dir.path().join("a").exists());
    let failed = lab(&dir, &[&arguments[..], &["--json"]].concat()).assert().code(1);
    assert_eq!(json(&failed)["exit"], 1);
}

#[test]
fn parameters_and_names_that_cannot_be_told_apart_are_refused() {
    let refused = |arguments: &[&str], sentence: &str| {
        compare(arguments).code(2).stderr(contains(sentence.to_owned()));
    };
    refused(&["true", "true", "-n", "a", "-n", "a"], "two commands have the name a; give each one");
    refused(&["true", "false", "-n", "false"], "two commands have the name false");
    let twice = ["echo {n}", "-L", "n", "1,2", "-L", "n", "3"];
    refused(&twice, "two parameters have the name n");
    let many = ["echo {a} {b}", "-P", "a", "1", "900", "-P", "b", "1", "900"];
    refused(&many, "the parameters give more than 1000 commands; give fewer values");
    refused(&["true", "true", "-D", "2"], "--parameter-scan");
    for step in ["0", "-1", "nan", "1e-300"] {
        let scan = ["echo {n}", "-P", "n", "1", "3", &format!("-D={step}")];
        refused(&scan, "--parameter-scan: give MIN below MAX");
    }
    refused(&["true", "true", "--budget", "inf"], "--budget is no number of seconds");
    refused(&["true", "true", "--budget=-1"], "--budget is no number of seconds");
    let small = ["echo {n}", "-P", "n", "0", "3e-10", "-D", "1e-10", "--runs", "1", "--json"];
    let commands = json(&compare(&small).code(11))["commands"].clone();
    let texts: Vec<&Value> = commands.as_array().unwrap().iter().map(|c| &c["text"]).collect();
    let expected = ["0", "0.0000000001", "0.0000000002", "0.0000000003"];
    assert_eq!(texts, expected.map(|number| format!("echo {number}")).each_ref());
    let lines = "true\ntrue";
    let dir = TempDir::new().unwrap();
    let exports = ["--export-markdown", "a", "--runs", "1"];
    let told = lab(&dir, &[&[lines, "true"], &exports[..]].concat()).assert().code(11);
    told.stdout(contains("cannot tell true from true true"));
    let page = fs::read_to_string(dir.path().join("a")).unwrap();
    assert!(page.contains("| `true true` |"), "{page}");
}

#[test]
fn a_file_of_attempts_behind_a_link_is_one_for_all() {
    let dir = TempDir::new().unwrap();
    symlink("shared", dir.path().join("s")).unwrap();
    for attempt in ["attempt 1: ", "attempt 2: "] {
        let told = lab(&dir, &["true", "true", "--spend", "s", "--runs", "1"]).assert().code(11);
        told.stdout(contains(attempt).and(contains("panicked").not()));
    }
    assert!(fs::symlink_metadata(dir.path().join("s")).unwrap().is_symlink());
    let shared = fs::read_to_string(dir.path().join("shared")).unwrap();
    assert_eq!(shared.lines().count(), 3);
    // A file that was cut off in a line is refused as it is.
    let _attack = Attack::on("records", "a file of attempts that was cut off in a line");
    let torn = &shared[..shared.len() - 9];
    let mut file = fs::File::create(dir.path().join("shared")).unwrap();
    file.write_all(torn.as_bytes()).unwrap();
    let refused = lab(&dir, &["true", "true", "--spend", "s", "--runs", "1"]).assert().code(4);
    refused.stderr(contains("line 3 is no attempt"));
    assert_eq!(fs::read_to_string(dir.path().join("shared")).unwrap(), torn);
}
