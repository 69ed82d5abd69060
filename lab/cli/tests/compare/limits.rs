//! Commands that a longer $PWD or a larger environment breaks, and signals that come twice.

use std::{fs, process::Command, thread, time::Duration};

use assert_cmd::assert::OutputAssertExt;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use predicates::{prelude::predicate, str::contains};
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

use crate::{json, lab};

/// What is noted of a command that fails so; its rounds are as they would be without that.
const SAID: &str = " where the lab lengthens $PWD and the environment, which moves memory, so both \
                    stay as they are in all rounds, as with --fixed-layout";

#[test]
fn what_a_longer_folder_breaks_is_found_before_the_rounds_and_left_out_of_them() {
    for (what, fails) in [
        ("a path", "test ${#PWD} -lt 120 || { echo too long >&2; exit 3; }"),
        ("an environment", "test $(env | grep LAB_PADDING | wc -c) -lt 4000 || exit 3"),
        ("a path, accepted", "test ${#PWD} -lt 120 || exit 3"),
    ] {
        let _attack = Attack::on("answers", &format!("a command that {what} of the lab's breaks"));
        let dir = TempDir::new().unwrap();
        let more = if what.ends_with("accepted") { &["-i"][..] } else { &[] };
        let arguments = ["true", fails, "--runs", "20", "--record", "r", "--json"];
        let result = json(&lab(&dir, &[&arguments[..], more].concat()).assert());
        let notes = result["notes"].to_string();
        assert!(notes.contains(SAID), "{notes}");
        assert!(notes.contains(" (too long) where") == (what == "a path"), "{notes}");
        let record = fs::read_to_string(dir.path().join("r")).unwrap();
        let rounds = record.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
        for round in rounds.collect::<Vec<Value>>() {
            let none = serde_json::json!({ "environment_bytes": 0, "path_bytes": 0 });
            assert_eq!(round["layout"], none);
            assert_eq!(round["statuses"], serde_json::json!([0, 0]));
        }
    }
    // What fails in any case is told as it is.
    let dir = TempDir::new().unwrap();
    let failed = lab(&dir, &["true", "echo $PWD >&2; exit 3"]).assert().code(1);
    let errors = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
    assert!(errors.contains("ended with status 3") && !errors.contains("xxx"), "{errors}");
}

#[test]
fn an_environment_near_its_limit_leaves_no_round_to_chance() {
    let dir = TempDir::new().unwrap();
    let with = |bytes: usize| {
        let lab = lab(&dir, &["true", "true", "--runs", "40", "-n", "a", "-n", "b"]);
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -s 2048; exec \"$@\"", "sh"]);
        limited.arg(lab.get_program()).args(lab.get_args()).current_dir(&dir).env_clear();
        let large = (0..4).map(|number| (format!("LARGE{number}"), "x".repeat(bytes)));
        limited.env("PATH", "/usr/bin:/bin").envs(large).assert()
    };
    // Any answer: 40 rounds of a millisecond may show on a busy machine that none is slower.
    let answered = || predicate::in_iter([0, 10, 11]);
    // A quarter of 2 MiB is what all may have.
    with(130_200).code(answered()).stderr(contains(SAID));
    with(60_000).code(answered()).stdout(contains("40 rounds in "));
}

#[test]
fn a_signal_that_comes_twice_at_once_prints_what_was_measured() {
    let _attack = Attack::on("kills", "a signal to the lab and at once to its group");
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let dir = TempDir::new().unwrap();
        let mut lab = lab(&dir, &["sleep 0.2", "sleep 0.2", "--record", "r"]);
        let lab = lab.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        let child = lab.spawn().unwrap();
        let rounds = || fs::read_to_string(dir.path().join("r")).unwrap_or_default();
        while rounds().lines().count() < 4 {
            thread::sleep(Duration::from_millis(10));
        }
        for _ in 0..2 {
            kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(" rounds in "), "{signal}");
    }
}
