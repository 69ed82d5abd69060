//! What `--setup` and `--prepare` of `lab compare` start in the background.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use tempfile::TempDir;

use crate::lab;

/// Fails where what wrote `pid` does not run, as a client whose server does not answer.
const CLIENT: &str = "sh -c 'grep -q State:.[RSD] /proc/$(cat pid)/status'";
const CLEANUP: &str = "grep -q State:.[RSD] /proc/$(cat pid)/status && touch seen";
/// Writes its number, and stays.
const SERVER: &str = "echo 'echo $$ > new; mv new pid; exec sleep 979' > server;";
const UNTIL_UP: &str = "until test -e pid; do sleep 0.01; done";

fn is_there(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.trim()));
    stat.is_ok_and(|text| !text.contains(") Z "))
}

#[track_caller]
fn has_ended(dir: &TempDir, what: &str) {
    let pid = fs::read_to_string(dir.path().join("pid")).unwrap();
    assert!(!is_there(&pid), "{what}: process {pid} is there");
}

/// Ways to start what goes on, and the shell that reads it.
const WAYS: [(&str, &str); 12] = [
    ("sh server &", "default"),
    ("sh server &", "none"),
    ("sh server &", "bash"),
    ("sh server &", "bash -m"),
    ("set -m; sh server & disown", "bash"),
    ("nohup sh server &", "default"),
    ("setsid sh server &", "default"),
    ("(sh server &)", "default"),
    ("sh -c 'sh -c \"sh server &\" &'", "default"),
    ("env -i PATH=\"$PATH\" sh server &", "default"),
    ("exec 2> log; sh server &", "bash"),
    // Leaves the parent that --setup left, after --setup has ended.
    ("(sleep 0.2; setsid sh -c 'setsid sh server &') &", "default"),
];

#[test]
fn what_setup_starts_in_the_background_is_there_until_after_cleanup() {
    for (way, shell) in WAYS {
        let dir = TempDir::new().unwrap();
        let setup = format!("{SERVER} {way}\n{UNTIL_UP}");
        let around = ["--setup", &setup, "--cleanup", CLEANUP, "--shell", shell];
        let arguments = [&around[..], &["--runs", "4", CLIENT, CLIENT]].concat();
        lab(&dir, &arguments).assert().code(11);
        assert!(dir.path().join("seen").exists(), "{way} ({shell}) was there for --cleanup");
        has_ended(&dir, way);
    }
}

#[test]
fn a_daemon_that_leaves_its_parent_amid_the_rounds_stays() {
    let dir = TempDir::new().unwrap();
    // Both are gone when the daemon has a new parent: no process leads to it.
    let daemon = "(sleep 0.3; setsid sh -c 'setsid sh server & exit') &";
    let setup = format!("{SERVER} {daemon}");
    let client = format!("sleep 0.05; ! test -e pid || {CLIENT}");
    let arguments = ["--setup", &setup, "--cleanup", CLEANUP, "--runs", "12", &client, &client];
    lab(&dir, &arguments).assert().code(11);
    assert!(dir.path().join("seen").exists(), "it was there for --cleanup");
    has_ended(&dir, daemon);
}

#[test]
fn what_prepare_starts_is_there_for_its_run_and_ends_after_it() {
    let dir = TempDir::new().unwrap();
    // One at a time, as where they take a port.
    let alone = "test -e pid && kill -0 $(cat pid) && exit 7; rm -f pid;";
    let prepare = format!("{alone} {SERVER} sh server & {UNTIL_UP}");
    let rounds: [&[&str]; 4] = [&[], &["--order", "blocks:2"], &["--warmup", "1"], &["-S", "bash"]];
    for more in rounds {
        let arguments = ["--prepare", &prepare, "--runs", "3", CLIENT, CLIENT];
        lab(&dir, &[&arguments[..], more].concat()).assert().code(11);
        has_ended(&dir, "--prepare");
    }
    let sessions = ["--prepare", &prepare, "--runs", "4", "--sessions", "2", CLIENT, CLIENT];
    lab(&dir, &sessions).assert().code(11);
    has_ended(&dir, "--prepare of sessions");
}
