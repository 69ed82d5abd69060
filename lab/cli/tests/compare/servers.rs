//! What `--setup` and `--prepare` of `lab compare` start in the background, and `--ready`.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::{TcpListener, TcpStream},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use assert_cmd::assert::OutputAssertExt;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
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
    let client = format!("sleep 0.1; ! test -e pid || {CLIENT}");
    // Too few rounds to show that two that sleep alike are alike.
    let arguments = ["--setup", &setup, "--cleanup", CLEANUP, "--runs", "6", &client, &client];
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

#[test]
fn a_port_and_a_command_are_waited_for() {
    let dir = TempDir::new().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let address = format!("127.0.0.1:{port}");
    let server = {
        let address = address.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(700));
            TcpListener::bind(address).unwrap()
        })
    };
    let start = Instant::now();
    let both = ["--ready", &port, "--ready", "test -e up", "--ready", &address];
    let setup = ["--setup", "(sleep 0.4; touch up) &", "test -e up", "test -e up", "--runs", "2"];
    let waited = lab(&dir, &[&both[..], &setup].concat()).assert().code(11);
    assert!(start.elapsed() > Duration::from_millis(700), "{:?}", start.elapsed());
    waited.stderr(contains("answered before").not());
    let listener = server.join().unwrap();
    TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    // Without --setup the server is somebody else's, as is what answers before it.
    lab(&dir, &[&both[..2], &["true", "true", "--runs", "1"]].concat()).assert().code(11);
    let stranger = lab(&dir, &[&both[..2], &setup].concat()).assert().code(11);
    stranger.stderr(contains(format!("note: {port} answered before --setup: another program")));
    let prepare = ["--prepare", "rm -f up; (sleep 0.1; touch up) &", "--ready", "test -e up"];
    let each = ["test -e up", "test -e up", "--runs", "2"];
    lab(&dir, &[&prepare[..], &each].concat()).assert().code(11);
    let places = ["--ready", "test -e {name}", "-L", "name", "a,b", "test -e {name}"];
    let setup = ["--setup", "(sleep 0.1; touch {name}) &", "--runs", "1"];
    lab(&dir, &[&places[..], &setup].concat()).assert().code(11);
}

#[test]
fn a_server_that_never_answers_is_one_sentence_and_is_ended() {
    let _attack = Attack::on("kills", "a server that never answers");
    let dir = TempDir::new().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let setup = format!("{SERVER} sh server & {UNTIL_UP}");
    let ready = |asked: &str, setup: &str| {
        let waits = ["--ready", asked, "--setup", setup, "--timeout", "0.5"];
        lab(&dir, &[&waits[..], &["touch ran", "touch ran"]].concat()).assert()
    };
    let silent = ready(&port, &setup).code(1);
    silent.stderr(contains(format!(
        "lab: --ready `{port}` accepted no connection within 0.5 s: Connection refused"
    )));
    has_ended(&dir, "a server that is silent");
    let silent = ready("echo starts >&2; echo not yet >&2; exit 5", &setup).code(1);
    let sentence = "`echo starts >&2; echo not yet >&2; exit 5` did not end with status 0 within \
                    0.5 s:\n  | starts\n  | not yet\n";
    silent.stderr(contains(sentence));
    has_ended(&dir, "a server that says no");
    ready("sleep 30", &setup).code(1).stderr(contains("did not end with status 0 within 0."));
    has_ended(&dir, "a server that hangs");
    let dead = ready(&port, "(echo no room >&2; exit 3) &").code(1);
    dead.stderr(contains("; what --setup left running has ended: no room\n"));
    ready("no-such-client", &setup).code(2).stderr(contains("`no-such-client` was not found"));
    for not_one in ["0", "65536", "localhost:70000"] {
        let refused = ready(not_one, "touch set-up").code(2);
        refused.stderr(contains("give a port from 1 to 65535"));
    }
    for file in ["ran", "set-up"] {
        assert!(!dir.path().join(file).exists(), "{file}");
    }
}

#[test]
fn a_dead_server_is_not_waited_for() {
    let dir = TempDir::new().unwrap();
    let start = Instant::now();
    let asked = ["--ready", "false", "--setup", "(echo no room >&2; exit 3) &", "true", "true"];
    lab(&dir, &asked).assert().code(1).stderr(contains("has ended: no room"));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn a_server_that_is_not_left_in_the_background_is_told_and_may_be_stopped() {
    let dir = TempDir::new().unwrap();
    let mut lab = lab(&dir, &["--setup", "echo $$ > pid; exec sleep 978", "true", "true"]);
    let mut child = lab.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let note = said.find(|line| line.starts_with("note: ")).unwrap();
    assert!(note.ends_with("sleep 978` still runs; a server needs & after it"), "{note}");
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    has_ended(&dir, "--setup in the foreground");
}

#[test]
fn who_waits_for_a_server_may_stop() {
    let dir = TempDir::new().unwrap();
    let setup = format!("{SERVER} sh server &");
    let asked = ["--ready", "false", "--setup", &setup, "--cleanup", "touch cleaned"];
    let mut lab = lab(&dir, &[&asked[..], &["true", "true"]].concat());
    let mut child = lab.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !dir.path().join("pid").exists() {
        thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(dir.path().join("cleaned").exists());
    has_ended(&dir, "an interrupted wait");
}
