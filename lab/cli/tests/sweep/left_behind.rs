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
use predicates::str::contains;
use proof_kit::Attack;

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
    let _attack = Attack::on("kills", "a daemon of a good run");
    let world = world("exec \"$FLOOR\"");
    let run = ["run", "experiments/e.toml", "--out", "r", "--no-startup"];
    let told = world.lab(&run).assert().code(0);
    told.stderr(contains("steady solo c #0` left processes behind (1, "));
    let runs = Results::load(&world.path("r")).unwrap().runs;
    assert!(runs.iter().all(|run| run.counters["left_processes"] == 1), "{runs:?}");
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
    let _attack = Attack::on("kills", "SIGKILL amid a run");
    let world = world("sleep 1000");
    let mut lab = started(&world, &["run", "experiments/e.toml", "--out", "r", "--no-startup"]);
    assert!(has_scratch(&world.path("results")));
    send(&lab, Signal::SIGKILL);
    lab.wait().unwrap();
    assert_nothing_is_left(&world);
}

/// Daemons that give up more and more of what tells whose they are.
const HIDING: [(&str, &str); 5] = [
    ("an empty environment", "env -i setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >> P"),
    (
        "no parent, and an empty environment",
        "(env -i setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >> P)",
    ),
    (
        "a folder and a name of its own",
        "cp \"$(command -v sleep)\" \"P.d\"; (cd /; env -i setsid \"P.d\" 1000 </dev/null \
         >/dev/null 2>&1 & echo $! >> P)",
    ),
    (
        "other limits of files and memory",
        "(ulimit -n 64; ulimit -s 4096; env -i setsid sleep 1000 </dev/null >/dev/null 2>&1 & \
         echo $! >> P)",
    ),
    (
        "three generations",
        "(env -i setsid sh -c '(setsid sh -c \"sleep 1000 & echo \\$! >> P; wait\" &)' \
         </dev/null >/dev/null 2>&1 &)",
    ),
];

#[test]
fn a_daemon_that_hides_ends_with_a_lab_that_is_killed() {
    for (name, daemon) in HIDING {
        let _attack = Attack::on("kills", &format!("a daemon with {name}"));
        let world = World::new();
        let pids = world.path("pids").display().to_string();
        world.variant("steady", &format!("{}\nexec sleep 1000", daemon.replace('P', &pids)));
        world.experiment("paced", 1, "");
        let mut lab = started(&world, &["run", "experiments/e.toml", "--out", "r"]);
        let pid = fs::read_to_string(&pids).unwrap().trim().to_owned();
        // The daemon has come as far as its own program: no environment is left to find it by.
        until("the daemon's own program", || {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            !String::from_utf8_lossy(&environment).contains("LAB_STARTED_BY")
        });
        send(&lab, Signal::SIGKILL);
        lab.wait().unwrap();
        assert_nothing_is_left(&world);
    }
}

#[test]
fn what_a_run_leaves_to_be_found_is_named() {
    for (name, leave, said) in [
        ("a file for the next run", "echo 7 > \"$TMPDIR/answer\"", "temporary/answer"),
        ("a folder for the next run", "mkdir -p \"$TMPDIR/answers\"", "temporary/answers"),
        ("a pipe for the next run", "mkfifo \"$TMPDIR/p\" 2>/dev/null", "temporary/p"),
        ("a file where the lab is", "echo 7 > answer-of-mine", "/answer-of-mine"),
        (
            "a file beside the programs' folder",
            "echo 7 > \"$(dirname \"$0\")/../kept-mine\"",
            "/kept-mine",
        ),
    ] {
        let _attack = Attack::on("variants", name);
        let world = World::new();
        world.variant("steady", &format!("{leave}\nexec \"$FLOOR\""));
        world.experiment("paced", 1, "");
        fs::create_dir(world.path("temporary")).unwrap();
        let mut lab = world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]);
        let told = lab.env("TMPDIR", world.path("temporary")).assert().code(0);
        let told = String::from_utf8(told.get_output().stderr.clone()).unwrap();
        let line = told.lines().find(|line| line.contains(said));
        let line = line.unwrap_or_else(|| panic!("{name}: {told}"));
        assert!(line.starts_with("beside the run `block 0 steady "), "{line}");
    }
}

#[test]
fn a_terminal_that_is_closed_is_as_ctrl_c() {
    let _attack = Attack::on("kills", "a terminal that is closed");
    let world = world("sleep 1000");
    let mut lab = started(&world, &["run", "experiments/e.toml", "--out", "r", "--no-startup"]);
    send(&lab, Signal::SIGHUP);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_nothing_is_left(&world);
}

#[test]
fn ctrl_c_while_the_floor_answers_loses_that_run_alone() {
    let _attack = Attack::on("kills", "Ctrl-C while the floor answers");
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
    let _attack = Attack::on("kills", "Ctrl-C amid a check");
    let world = world("sleep 1000");
    let mut lab = started(&world, &["verify", "experiments/e.toml"]);
    send(&lab, Signal::SIGINT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_nothing_is_left(&world);
}

#[test]
fn a_server_that_is_kept_up_ends_with_a_lab_that_is_killed_or_interrupted() {
    for (signal, code) in [(Signal::SIGKILL, None), (Signal::SIGINT, Some(130))] {
        let _attack = Attack::on("kills", &format!("{signal} while a server is kept up"));
        let world = kept::hanging();
        let mut lab = started(&world, &["run", "experiments/e.toml", "--out", "r"]);
        send(&lab, signal);
        assert_eq!(lab.wait().unwrap().code(), code);
        assert_nothing_is_left(&world);
    }
}
