//! What `lab compare` does with commands that print something else in the rounds than before them.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use tempfile::TempDir;

use crate::{json, lab, text};

/// Counts its runs in a file, prints "right" in the first few of them and does `then` afterwards.
fn turns(runs: u32, then: &str) -> String {
    format!(
        "echo >> n; test $(wc -l < n) -le {runs} && {{ echo right; sleep 0.003; exit 0; }}; {then}"
    )
}

const SAID: &str = "printed something else in its run ";

/// A honest command and one that is wrong from its fourth run on.
fn wrong(more: &[&str]) -> assert_cmd::assert::Assert {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("in"), "text\n").unwrap();
    let new = turns(3, "echo wrong");
    let old = "sleep 0.003; echo right";
    lab(&dir, &[&[old, &new, "--budget", "60", "-n", "old", "-n", "new"], more].concat()).assert()
}

#[test]
fn a_command_that_is_wrong_after_the_check_has_no_verdict() {
    let ways: [&[&str]; 15] = [
        &[],
        &["--check", "same-output"],
        &["--json"],
        &["--output", "kept"],
        &["--output", "pipe"],
        &["--output", "out"],
        &["--shell", "sh"],
        &["--shell", "bash"],
        &["--input", "in"],
        &["--order", "blocks:3"],
        &["--warmup", "9"],
        &["--inner", "3"],
        &["--fixed-layout"],
        &["--ignore-failure"],
        &["--record", "r"],
    ];
    for way in ways {
        let _attack = Attack::on("answers", &format!("wrong from run 4 on, with {way:?}"));
        let ended = wrong(way).code(1);
        let ended = ended.stderr(contains(SAID).and(contains("echo wrong` printed")));
        let ended = ended.stderr(contains("--output FILE keeps what a run prints, --check once"));
        assert_eq!(text(&ended), "", "no verdict is printed");
    }
    // Without the looks it would have been called faster.
    wrong(&["--check", "once", "--runs", "4"]).code(11).stderr(contains(SAID).not());
}

#[test]
fn every_way_to_print_something_else_is_found() {
    for (what, then) in [
        ("nothing", ":"),
        ("less", "printf righ"),
        ("one byte more", "echo 'right '"),
        ("the same twice", "echo right; echo right"),
        ("another case", "echo Right"),
        ("no newline", "printf right"),
        ("a zero byte", "printf 'right\\0\\n'"),
        ("an escape", "printf '\\033[0mright\\n'"),
        ("an answer in a truncated file", "echo right; echo wrong > /dev/stdout"),
        ("the answer of a child", "sh -c 'echo wrong'"),
        ("megabytes", "head -c 3000000 /dev/zero"),
    ] {
        let dir = TempDir::new().unwrap();
        let _attack = Attack::on("answers", &format!("{what}, after runs that were right"));
        let new = turns(4, then);
        let ended = lab(&dir, &["echo right", &new, "--budget", "60"]).assert().code(1);
        ended.stderr(contains(SAID));
    }
}

#[test]
fn the_reference_and_the_commands_of_a_duet_are_looked_at_too() {
    for (what, first) in [("the reference", true), ("the candidate", false)] {
        for duet in [false, true] {
            if duet && std::thread::available_parallelism().unwrap().get() < 2 {
                continue;
            }
            let dir = TempDir::new().unwrap();
            let _attack = Attack::on("answers", &format!("{what} is wrong, duet: {duet}"));
            let mut commands = [turns(4, "echo wrong"), "echo right".to_owned()];
            if !first {
                commands.reverse();
            }
            let mut arguments = vec![commands[0].as_str(), &commands[1], "--budget", "60"];
            arguments.extend(duet.then_some("--duet"));
            lab(&dir, &arguments).assert().code(1).stderr(contains(SAID));
        }
    }
}

#[test]
fn the_file_of_output_holds_the_wrong_answer() {
    let dir = TempDir::new().unwrap();
    let new = turns(3, "echo wrong");
    let arguments = ["echo right", &new, "--output", "out", "--order", "blocks:5"];
    lab(&dir, &arguments).assert().code(1).stderr(contains(SAID));
    assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), "wrong\n");
}

#[test]
fn what_varies_without_a_lie_is_a_note() {
    let dir = TempDir::new().unwrap();
    let uuid = "cat /proc/sys/kernel/random/uuid";
    let note = |commands: [&str; 2], more: &[&str]| {
        let arguments = [&commands[..], &["--runs", "6", "--json"], more].concat();
        json(&lab(&dir, &arguments).assert().code(11))["notes"][0].clone()
    };
    assert_eq!(
        note(["echo a", uuid], &["-n", "old", "-n", "new"]),
        "new prints something else each time, old does not"
    );
    // The layout of a round is part of what these print.
    let varies = " prints something else each time, so outputs were not compared";
    assert_eq!(note(["echo $PWD", "true"], &[]), format!("echo $PWD{varies}"));
    assert_eq!(note(["env | wc -c", "true"], &[]), format!("env | wc -c{varies}"));
    let hidden = note(["echo a", "printf 'a\\n'"], &["--output", "null"]);
    assert!(hidden.as_str().unwrap().starts_with("--output null shows nobody what timed runs"));
}

#[test]
fn an_output_without_an_end_is_ended_and_said() {
    let dir = TempDir::new().unwrap();
    for (what, command) in [
        ("400 MB", "head -c 400000000 /dev/zero"),
        ("an endless output", "cat /dev/zero"),
        ("400 MB of a child's child", "sh -c 'head -c 400000000 /dev/zero; :'"),
    ] {
        let _attack = Attack::on("memory", &format!("{what} on a command's standard output"));
        let ended = lab(&dir, &["true", command]).assert().code(1);
        ended.stderr(contains(format!(
            "`{command}` printed more than 64 MiB, which is what is kept of an output in memory; \
             give --output pipe, or --check once"
        )));
    }
    let late = turns(3, "head -c 400000000 /dev/zero");
    let _attack = Attack::on("memory", "400 MB amid the rounds");
    let ended = lab(&dir, &["echo right", &late, "--budget", "60"]).assert().code(1);
    ended.stderr(contains("/dev/zero` printed more than 64 MiB"));
}

#[test]
fn four_hundred_megabytes_of_complaints_take_no_memory_and_no_disk() {
    let dir = TempDir::new().unwrap();
    let loud = "head -c 400000000 /dev/zero >&2; echo why >&2";
    for (what, command) in
        [("and success", loud.to_owned()), ("and failure", format!("{loud}; exit 3"))]
    {
        let _attack = Attack::on("memory", &format!("400 MB of complaints {what}"));
        let lab = lab(&dir, &["true", &command, "--runs", "1"]);
        // More than it needs, and less than what is printed; a file of that length is refused.
        let limited = "ulimit -v 300000 -f 100000; exec \"$@\"";
        let mut limits = std::process::Command::new("bash");
        limits.args(["-c", limited, "bash"]).arg(lab.get_program()).args(lab.get_args());
        limits.current_dir(&dir);
        let ended = limits.assert();
        match what {
            "and success" => drop(ended.code(11)),
            _ => {
                let said =
                    format!("`{command}` ended with status 3; --ignore-failure accepts that: why");
                ended.code(1).stderr(contains(said));
            }
        }
    }
}
