//! What is there after `lab compare` was killed: no process and no folder.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use proof_kit::Attack;
use tempfile::TempDir;

use crate::lab;

/// Sleeps with a child of its own and one in a session of its own, and notes all three. In its
/// first run, which is the check, it does not.
const SLEEPS: &str = "test -e once || { touch once; exit 0; }; sh -c 'echo $$ >> pids; sleep 996' &
    setsid sh -c 'echo $$ >> pids; exec sleep 997' & echo $$ >> pids; sleep 998; :";
/// The same from its first run on.
const AT_ONCE: &str = "sh -c 'echo $$ >> pids; sleep 996' &
    setsid sh -c 'echo $$ >> pids; exec sleep 997' & echo $$ >> pids; sleep 998; :";

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn is_there(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|text| !text.contains(") Z "))
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Starts a comparison with a temporary folder of its own, and waits for three processes.
fn started(dir: &TempDir, arguments: &[&str]) -> Child {
    let temporary = dir.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut lab = lab(dir, arguments);
    lab.env("TMPDIR", temporary).stdout(Stdio::null()).stderr(Stdio::null());
    let child = lab.spawn().unwrap();
    until("three processes", || lines(&dir.path().join("pids")).len() >= 3);
    child
}

fn assert_nothing_is_left(dir: &TempDir) {
    for process in lines(&dir.path().join("pids")) {
        until(&format!("the end of process {process}"), || !is_there(&process));
    }
    let left = || fs::read_dir(dir.path().join("tmp")).unwrap().flatten().count();
    until("an empty temporary folder", || left() == 0);
}

#[test]
fn a_killed_comparison_leaves_no_process_and_no_folder() {
    let ways: [(&str, &[&str]); 11] = [
        ("a run of a round", &[SLEEPS, "true"]),
        ("a run without a shell's help", &["true", "sh sleeps"]),
        ("a run with an empty environment", &["true", "env -i PATH=/usr/bin:/bin sh sleeps"]),
        ("a run of the check", &["true", AT_ONCE]),
        ("a run that warms up", &[SLEEPS, "true", "--warmup", "3"]),
        ("a run of a block", &[SLEEPS, "true", "--order", "blocks:3"]),
        ("a run beside a server of --setup", &[SLEEPS, "true", "--setup", "setsid sleep 995 &"]),
        ("--setup", &["true", "true", "--setup", AT_ONCE]),
        ("--prepare", &["true", "true", "--prepare", AT_ONCE]),
        ("--check", &["true", "true", "--check", AT_ONCE]),
        ("--cleanup", &["true", "true", "--runs", "1", "--cleanup", AT_ONCE]),
    ];
    for (amid, arguments) in ways {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("sleeps"), AT_ONCE).unwrap();
        let _attack = Attack::on("kills", &format!("SIGKILL of a comparison amid {amid}"));
        let mut child = started(&dir, arguments);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_nothing_is_left(&dir);
    }
}

#[test]
fn no_signal_that_ends_a_comparison_leaves_anything() {
    use Signal::{SIGABRT, SIGALRM, SIGFPE, SIGQUIT, SIGSYS, SIGUSR1};
    for signal in [SIGABRT, SIGALRM, SIGFPE, SIGQUIT, SIGSYS, SIGUSR1] {
        let dir = TempDir::new().unwrap();
        let _attack = Attack::on("kills", &format!("{signal} of a comparison"));
        let mut child = started(&dir, &[SLEEPS, "true"]);
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        child.wait().unwrap();
        assert_nothing_is_left(&dir);
    }
}

#[test]
fn a_killed_comparison_of_comparisons_leaves_nothing() {
    let dir = TempDir::new().unwrap();
    let program = std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap();
    fs::write(dir.path().join("inner"), AT_ONCE).unwrap();
    let inner = format!("'{}' compare true 'sh inner'", program.display());
    let _attack = Attack::on("kills", "SIGKILL of a comparison that runs a comparison");
    let mut child = started(&dir, &["true", &inner]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_nothing_is_left(&dir);
}

#[test]
fn the_guard_is_no_child_of_the_comparison_and_ends_with_it() {
    let dir = TempDir::new().unwrap();
    let mut child =
        started(&dir, &["true", "sh -c 'for p in 1 2 3; do echo $$ >> pids; done; sleep 1'"]);
    let guards = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let folder = dir.path().join("tmp").display().to_string();
        let of_it = all.filter(|process| {
            let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.contains("guard\0") && words.contains(&folder)
        });
        of_it.map(|process| fs::read_to_string(process.path().join("stat")).unwrap()).collect()
    };
    let found: Vec<String> = guards();
    let [guard] = &found[..] else { panic!("{found:?}") };
    assert!(!guard.contains(&format!(") S {} ", child.id())), "{guard}");
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    until("the guard's end", || guards().is_empty());
    assert_nothing_is_left(&dir);
}
