//! What is there after a sweep, however it ended: its records, and no process or scratch file.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Status};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{kept, ledgers::EXPERIMENT, world::World};

/// Starts a daemon, which belongs to no group of ours, and notes it.
const DAEMON: &str = "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >> \"$PIDS\"";

/// A variant that starts a daemon and then does what `script` says.
fn world(script: &str) -> World {
    let world = World::new();
    let pids = world.path("pids");
    world.variant("steady", &format!("PIDS='{}'\n{DAEMON}\n{script}", pids.display()));
    world.experiment("paced", 1, "");
    world
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts the lab and waits for the first daemon of a variant.
fn started(world: &World, arguments: &[&str]) -> Child {
    let lab = world.lab(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("a daemon", || {
        fs::read_to_string(world.path("pids")).is_ok_and(|text| text.ends_with('\n'))
    });
    lab
}

fn send(lab: &Child, signal: Signal) {
    kill(Pid::from_raw(lab.id().cast_signed()), signal).unwrap();
}

fn assert_nothing_is_left(world: &World) {
    let pids = fs::read_to_string(world.path("pids")).unwrap();
    for pid in pids.lines() {
        until(&format!("the end of process {pid}"), || has_ended(pid));
    }
    until("an end of the scratch folder", || !has_scratch(&world.path("results")));
}

/// A zombie that nobody has collected yet is at its end, too.
fn has_ended(pid: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    }
}

fn has_scratch(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with("scratch-"))
}

#[test]
fn daemons_of_a_good_run_are_ended() {
    let world = world("exec \"$FLOOR\"");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    assert_nothing_is_left(&world);
}

#[test]
fn what_the_user_started_before_is_left_running() {
    let world = world("exec \"$FLOOR\"");
    let lab = world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]);
    // The shell becomes the lab, and its child the lab's.
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 1000 > log 2>&1 & echo $! > user; exec \"$@\"", "sh"]);
    shell.arg(lab.get_program()).args(lab.get_args()).current_dir(world.path("."));
    shell.env_remove("BUILD_WORKSPACE_DIRECTORY").assert().code(0);
    assert_nothing_is_left(&world);
    let user = fs::read_to_string(world.path("user")).unwrap();
    assert!(!has_ended(user.trim()));
    kill(Pid::from_raw(user.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
}

#[test]
fn a_killed_lab_leaves_nothing_behind() {
    let world = world("sleep 1000");
    let mut lab = started(&world, &["run", "experiments/e.toml", "--out", "r", "--no-startup"]);
    assert!(has_scratch(&world.path("results")));
    send(&lab, Signal::SIGKILL);
    lab.wait().unwrap();
    assert_nothing_is_left(&world);
}

#[test]
fn a_terminal_that_is_closed_is_as_ctrl_c() {
    let world = world("sleep 1000");
    let mut lab = started(&world, &["run", "experiments/e.toml", "--out", "r", "--no-startup"]);
    send(&lab, Signal::SIGHUP);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_nothing_is_left(&world);
}

#[test]
fn ctrl_c_while_the_floor_answers_loses_that_run_alone() {
    let world = World::new();
    let asked = world.path("asked");
    // The first time that it is asked what is right, it takes long.
    let script = format!(
        "read -r line
        case $line in *floor-answer*)
            [ -e '{0}' ] || {{ touch '{0}'; exec sleep 1000; }} ;;
        esac
        printf '%s\\n' \"$line\" | \"$FLOOR\"",
        asked.display()
    );
    world.ledger("floor", &["t"], &script);
    fs::write(world.path("experiments/e.toml"), EXPERIMENT).unwrap();
    let mut lab = world.lab(&["run", "experiments/e.toml", "--out", "r"]);
    let mut lab = lab.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("a question to the floor", || asked.exists());
    send(&lab, Signal::SIGINT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    let runs = || Results::load(&world.path("r")).unwrap().runs;
    assert!(runs().is_empty(), "{:?}", runs());
    world.lab(&["run", "--resume", "r"]).assert().code(0);
    assert_eq!(runs().len(), 1 + 2 * 4, "a check, then two blocks of four cells");
    assert!(runs().iter().all(|run| run.status != Status::Failed));
}

#[test]
fn an_interrupted_check_leaves_nothing_behind() {
    let world = world("sleep 1000");
    let mut lab = started(&world, &["verify", "experiments/e.toml"]);
    send(&lab, Signal::SIGINT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_nothing_is_left(&world);
}

#[test]
fn a_server_that_is_kept_up_ends_with_a_lab_that_is_killed_or_interrupted() {
    for (signal, code) in [(Signal::SIGKILL, None), (Signal::SIGINT, Some(130))] {
        let world = kept::hanging();
        let mut lab = started(&world, &["run", "experiments/e.toml", "--out", "r"]);
        send(&lab, signal);
        assert_eq!(lab.wait().unwrap().code(), code);
        assert_nothing_is_left(&world);
    }
}
