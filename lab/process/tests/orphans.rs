//! What outlives a command in a session of its own. A program with this one test: it ends every
//! child of its process that it did not have before.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, Instant},
};

use lab_process::{Ended, Orphans, Run};
use nix::{
    sys::{
        signal::{Signal, kill},
        wait::waitpid,
    },
    unistd::Pid,
};
use proof_kit::Attack;

/// Starts a session that writes its number to `file` and lasts.
fn daemon(folder: &Path, file: &str) -> i32 {
    let script = format!(
        "setsid sh -c 'echo $$ > {file}.new; mv {file}.new {file}; exec sleep 999' &
        while ! test -e {file}; do sleep 0.01; done"
    );
    let argv = ["sh", "-c", &script].map(OsString::from).into();
    let run = Run { argv, directory: Some(folder.to_owned()), ..Run::default() };
    assert_eq!(run.execute(&AtomicBool::new(false)).unwrap().ended, Ended::Exited(0));
    fs::read_to_string(folder.join(file)).unwrap().trim().parse().unwrap()
}

fn is_there(process: i32) -> bool {
    let stat = fs::read_to_string(PathBuf::from(format!("/proc/{process}/stat")));
    stat.is_ok_and(|text| !text.contains(") Z "))
}

#[test]
fn what_left_its_group_is_ended_unless_it_is_kept_until_the_end() {
    let _attack = Attack::on("kills", "processes that left their group");
    let folder = tempfile::tempdir().unwrap();
    // What is there before: a child, and one of its own that becomes ours when it ends.
    let mut shell = Command::new("sh")
        .args(["-c", "sleep 997 & echo $! > new && mv new user && wait"])
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let user = folder.path().join("user");
    while !user.exists() {
        assert!(shell.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(10));
    }
    let user: i32 = fs::read_to_string(user).unwrap().trim().parse().unwrap();
    let orphans = Orphans::inherit();
    let server = daemon(folder.path(), "server");
    orphans.keep();
    let left = daemon(folder.path(), "left");
    assert!(is_there(server) && is_there(left));
    orphans.end();
    assert!(is_there(server) && !is_there(left));
    // A chain of sessions, of which each is inherited when the one above has ended.
    let chain =
        "setsid sh -c 'setsid sh -c \"setsid sleep 998 & sleep 999\" & sleep 999' & sleep 0.3";
    let argv = ["sh", "-c", chain].map(OsString::from).into();
    Run { argv, ..Run::default() }.execute(&AtomicBool::new(false)).unwrap();
    orphans.end();
    assert!(is_there(server));
    assert!(shell.try_wait().unwrap().is_none());
    shell.kill().unwrap();
    shell.wait().unwrap();
    orphans.end();
    drop(orphans);
    assert!(!is_there(server) && is_there(user));
    kill(Pid::from_raw(user), Signal::SIGKILL).unwrap();
    waitpid(Pid::from_raw(user), None).unwrap();
    let start = Instant::now();
    let children = || {
        let list = fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id()));
        list.unwrap_or_default().trim().to_owned()
    };
    while !children().is_empty() && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(children(), "");
}
