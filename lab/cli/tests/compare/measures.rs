//! `lab compare` by what it measures and varies: layout, further metrics, tools, inner runs, duets.

use std::{
    collections::BTreeSet,
    env, fs,
    io::Write,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use assert_cmd::assert::OutputAssertExt;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    sys::resource::{UsageWho, getrusage},
    unistd::Pid,
};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{compare, json, lab, text};

fn lines(dir: &TempDir, name: &str) -> Vec<String> {
    fs::read_to_string(dir.path().join(name)).unwrap().lines().map(str::to_owned).collect()
}

/// As `.ci/count-tests` counts it; the harness would swallow what is printed.
fn skipped(reason: &str) {
    let test = thread::current().name().unwrap_or("main").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

fn has(tool: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    if !found {
        skipped(&format!("{tool} is not installed"));
    }
    found
}

/// What a command sees of its layout, a line a run, after the two lines of the check.
const SEEN: &str = "echo \"$PWD $(pwd -P) $(cd .. && pwd -P) ${#LAB_PADDING}\" >> seen;
    grep stack /proc/self/maps >> stacks";

fn distinct(lines: &[String], field: usize) -> usize {
    let fields = lines.iter().filter_map(|line| line.split(' ').nth(field));
    fields.collect::<BTreeSet<_>>().len()
}

#[test]
fn the_layout_varies_between_rounds_and_the_folder_stays_what_it_is() {
    let dir = TempDir::new().unwrap();
    let arguments = [SEEN, "true", "--runs", "9", "--json", "--check", "status"];
    let result = json(&lab(&dir, &arguments).assert().code(11));
    assert_eq!(result["layout"]["fixed"], false);
    let setting = fs::read_to_string("/proc/sys/kernel/randomize_va_space").unwrap();
    let recorded = &result["layout"]["addresses"]["randomize_va_space"];
    assert_eq!(recorded.to_string(), setting.trim());
    let seen = &lines(&dir, "seen")[1..];
    assert!(distinct(seen, 0) > 4 && distinct(seen, 3) > 4, "{seen:?}");
    assert_eq!((distinct(seen, 1), distinct(seen, 2)), (1, 1), "{seen:?}");
    let physical = fs::canonicalize(&dir).unwrap();
    let expected = format!("{} {}", physical.display(), physical.parent().unwrap().display());
    assert!(seen[0].contains(&expected), "{seen:?}");
}

#[test]
fn a_fixed_layout_is_the_same_in_all_runs_down_to_the_addresses() {
    let dir = TempDir::new().unwrap();
    let arguments = [SEEN, "true", "--runs", "5", "--json", "--check", "status"];
    let result =
        json(&lab(&dir, &[&arguments[..], &["--fixed-layout"]].concat()).assert().code(11));
    assert_eq!(result["layout"]["fixed"], true);
    assert_eq!(result["layout"]["addresses"]["fixed"], true);
    assert_eq!(result["layout"]["shares"], json!([null]));
    assert_eq!((distinct(&lines(&dir, "seen"), 0), distinct(&lines(&dir, "seen"), 3)), (1, 1));
    let stacks: BTreeSet<String> = lines(&dir, "stacks").into_iter().collect();
    assert_eq!(stacks.len(), 1, "{stacks:?}");
}

#[test]
fn the_part_of_the_layout_and_the_table_are_told_for_each_candidate() {
    let dir = TempDir::new().unwrap();
    // So close that noise hardly ever ends it before the last round.
    let arguments = ["true", "true", "--runs", "40", "--margin", "0.001", "--fail-on", "slower"];
    let more = ["-n", "old", "-n", "new", "--export-markdown", "page.md"];
    let told = text(&lab(&dir, &[&arguments[..], &more].concat()).assert());
    let (before, _) = told.split_once(" rounds in ").unwrap();
    let rounds: u32 = before.rsplit('\n').next().unwrap().parse().unwrap();
    assert_eq!(told.contains("new: layout explains "), rounds >= 30, "{told}");
    assert!(told.contains("\nwall time  ") && told.contains("typical difference (99 %)"), "{told}");
    let page = lines(&dir, "page.md");
    let head = "| Median | `old` | `new` | Typical difference (99 %) |";
    let table = page.iter().position(|line| line == head).expect(head);
    assert!(page[table + 2].starts_with("| wall time | "), "{page:?}");
    let few = text(&compare(&["true", "true", "--runs", "20"]));
    assert!(!few.contains("layout"), "{few}");
}

#[test]
fn bytes_that_pass_through_are_a_metric() {
    let [once, twice] = ["1000000", "2000000"].map(|count| format!("head -c {count} /dev/zero"));
    for (metric, label) in [("read", "bytes read"), ("written", "bytes written")] {
        let arguments = [&once, &twice, "--metric", metric, "--check", "status", "-n", "a", "-n"];
        let told = compare(&[&arguments[..], &["b"]].concat()).code(10);
        let told = told.stdout(contains(format!(" × the {label} of a (")));
        told.stdout(contains("\nwall time ").and(contains("typical difference (99 %)")));
    }
}

#[test]
fn a_child_that_was_waited_for_is_counted_with_its_parent() {
    let (alone, child) = ("head -c 900000 /dev/zero", "sh -c 'head -c 1800000 /dev/zero; true'");
    let arguments = [alone, child, "--metric", "read", "--check", "status"];
    compare(&arguments).code(10);
}

#[test]
fn counters_are_a_metric_or_a_reason_is_given() {
    let result = json(&compare(&["true", "true", "--runs", "15", "--json"]).code(11));
    let metrics = result["state"]["candidates"][0]["metrics"].as_array().unwrap();
    let measured = metrics.iter().any(|metric| metric["metric"] == "instructions");
    if let Value::String(why) = &result["absent"]["instructions"] {
        assert!(!measured && why.starts_with("the kernel has no counters here"), "{why}");
        let refused = compare(&["true", "true", "--metric", "instructions"]).code(2);
        refused.stderr(contains("--metric: instructions: the kernel has no counters here"));
    } else {
        let busy = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'";
        compare(&["true", busy, "--metric", "instructions"]).code(10);
    }
}

#[test]
fn valgrind_tells_exactly_equal_counts_from_others() {
    if !has("valgrind") {
        return;
    }
    let arguments = |b| ["echo a", b, "--count", "--runs", "1", "-n", "old", "-n", "new", "-N"];
    let same = compare(&arguments("echo a")).code(11);
    same.stdout(contains("new: exactly as many instructions as old, "));
    let more = arguments("seq 30000");
    let more = text(&compare(&[&more[..], &["--check", "status"]].concat()).code(11));
    let ratio = more.split("new: ").last().unwrap().split(' ').next().unwrap();
    assert!(ratio.parse::<f64>().unwrap() > 1.1, "{more}");
    assert!(more.contains("times the instructions of old, "), "{more}");
    let all = [&arguments("echo a")[..], &["--json"]].concat();
    let counts = &json(&compare(&all).code(11))["counted"]["instructions"];
    assert_eq!(counts.as_array().unwrap().len(), 2);
    assert_eq!(counts[0].as_array().unwrap().len(), 3);
}

#[test]
fn strace_tells_which_calls_differ() {
    if !has("strace") {
        return;
    }
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output().unwrap();
    if !traced.status.success() {
        skipped("strace may not trace here");
        return;
    }
    twenty_times_the_calls(&TempDir::new().unwrap(), None);
}

#[test]
fn perf_counts_where_strace_is_missing() {
    if !has("perf") {
        return;
    }
    let (dir, path) = (TempDir::new().unwrap(), env::var_os("PATH").unwrap());
    let mut found = env::split_paths(&path).map(|folder| folder.join("perf"));
    let perf = dir.path().join("perf");
    symlink(found.find(|perf| perf.is_file()).unwrap(), &perf).unwrap();
    let mut probe = Command::new(perf);
    probe.current_dir(&dir).args(["trace", "-s", "-o", "probe", "/bin/true"]);
    if !probe.env("PATH", dir.path()).output().unwrap().status.success() {
        skipped("perf may not trace here");
        return;
    }
    twenty_times_the_calls(&dir, Some(dir.path()));
}

/// Compares 2 calls of umask(2) with 40, with the tools of this folder alone where one is given.
fn twenty_times_the_calls(dir: &TempDir, tools: Option<&Path>) {
    let [few, many] = [2, 40].map(|count| {
        format!("/bin/sh -c 'i=0; while [ $i -lt {count} ]; do i=$((i + 1)); umask 022; done'")
    });
    let names = ["-n", "old", "-n", "new", "--runs", "1", "--syscalls"];
    let arguments = [&[few.as_str(), &many][..], &names].concat();
    let mut lab = lab(dir, &arguments);
    lab.envs(tools.map(|tools| ("PATH", tools)));
    let table = text(&lab.assert().code(11));
    let row =
        table.lines().find(|line| line.starts_with("umask ")).unwrap_or_else(|| panic!("{table}"));
    // A shell may make several calls for one.
    let calls: Vec<u64> =
        row.split_whitespace().skip(1).map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(calls[1], 20 * calls[0], "{table}");
    assert!(table.contains("\nsystem calls "), "{table}");
}

#[test]
fn a_missing_tool_is_one_sentence_before_anything_runs() {
    let dir = TempDir::new().unwrap();
    for (option, sentence) in [
        ("--count", "--count needs valgrind, which is not installed; install it\n"),
        ("--syscalls", "--syscalls needs strace or perf, and none is installed; install one\n"),
    ] {
        let arguments = ["/bin/sh -c 'echo > ran'", "/bin/sh -c 'echo > ran'", option];
        let refused = lab(&dir, &arguments).env("PATH", dir.path()).assert().code(2);
        refused.stderr(predicates::str::ends_with(sentence));
        assert!(!dir.path().join("ran").exists());
    }
}

#[test]
fn inner_runs_are_one_timed_run_and_values_are_of_one() {
    let dir = TempDir::new().unwrap();
    let bytes = |inner: &str, record: &str| {
        let command = "head -c 500000 /dev/zero; echo >> runs";
        let arguments = [command, "true", "--seed", "1", "--runs", "3", "--inner", inner];
        let more = ["--check", "status", "--metric", "read", "--record", record];
        let _ = fs::remove_file(dir.path().join("runs"));
        lab(&dir, &[&arguments[..], &more].concat()).assert().code(11);
        let last: Value = serde_json::from_str(&lines(&dir, record)[3]).unwrap();
        (lines(&dir, "runs").len(), last["runs"][0][0].as_f64().unwrap())
    };
    let ((one, alone), (seven, each)) = (bytes("1", "one"), bytes("7", "seven"));
    // Once for the check, and maybe to wash the first round.
    let washed = usize::from(one == 1 + 4);
    assert_eq!((one, seven), (1 + 3 + washed, 1 + (3 + washed) * 7));
    assert!((alone / each - 1.0).abs() < 0.1, "{alone} {each}");
    compare(&["true", "true", "--inner", "0"]).code(2).stderr(contains("--inner"));
    let failing = "test -e once && exit 3; touch once";
    let refused = compare(&[failing, "true", "--inner", "5", "--check", "status", "--runs", "2"]);
    refused.code(1).stderr(contains("ended with status 3"));
}

#[test]
fn a_command_below_a_millisecond_is_pointed_to_inner_runs() {
    let dir = TempDir::new().unwrap();
    let arguments = ["true", "true", "-N", "--runs", "9", "--json", "--export-json", "runs.json"];
    let assert = lab(&dir, &arguments).assert().code(11);
    let runs: Value = serde_json::from_str(&lines(&dir, "runs.json").join("")).unwrap();
    let short = runs["results"][0]["median"].as_f64().unwrap() < 0.001;
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    let note = "note: true takes less than 1 ms, most of it for starting a process; --inner ";
    assert_eq!(said.contains(note), short, "{said}");
    let notes = json(&assert)["notes"].to_string();
    assert_eq!(notes.contains("true takes less than 1 ms"), short, "{notes}");
    let inner = lab(&dir, &[&arguments[..5], &["--inner", "10"]].concat()).assert().code(11);
    inner.stderr(contains("less than 1 ms").not());
}

/// Processors that this test may use, or a line that says why it is not run.
fn processors() -> Option<CpuSet> {
    let all = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let count = (0..CpuSet::count()).filter(|cpu| all.is_set(*cpu).unwrap()).count();
    if count < 2 {
        skipped("there is one processor");
    }
    (count >= 2).then_some(all)
}

#[test]
fn a_duet_runs_both_at_once_each_on_its_half() {
    if processors().is_none() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let command = "echo s >> log; grep Cpus_allowed_list /proc/self/status >> cpus; sleep 0.4; \
                   echo e >> log";
    let arguments = [command, command, "--duet", "--runs", "3", "--json", "--record", "rounds"];
    let result = json(&lab(&dir, &arguments).assert().code(11));
    assert_eq!(result["settings"]["duet"], true);
    // The check has run each alone, and the first again.
    let log = lines(&dir, "log").join("");
    assert!(log.starts_with("sesese") && log.contains("ssee"), "{log}");
    let halves = lines(&dir, "cpus")[3..].to_vec();
    assert_eq!(halves.len(), 2 * 4, "three rounds, and one that washes the first: {halves:?}");
    assert_eq!(halves.iter().collect::<BTreeSet<_>>().len(), 2, "{halves:?}");
    for pair in halves.chunks(2) {
        assert_ne!(pair[0], pair[1]);
    }
    let round: Value = serde_json::from_str(&lines(&dir, "rounds")[1]).unwrap();
    assert_eq!(round["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_duet_finds_twice_the_time() {
    if processors().is_none() {
        return;
    }
    let arguments = ["sleep 0.03", "sleep 0.06", "-n", "old", "-n", "new", "--duet"];
    compare(&arguments).code(10).stdout(contains(" × slower than old ("));
}

#[test]
fn a_duet_of_three_or_on_one_processor_is_refused() {
    let three = compare(&["true", "true", "true", "--duet"]).code(2);
    three.stderr(contains("a duet has two commands, not 3"));
    let both = compare(&["true", "true", "--duet", "--inner", "3"]).code(2);
    both.stderr(contains("cannot be used with"));
    let bare = compare(&["true", "true", "--duet", "--order", "blocks:3"]).code(2);
    bare.stderr(contains("cannot be used with"));
    let Some(all) = processors() else { return };
    // Of this thread alone, whose children inherit it.
    let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu).unwrap()).unwrap();
    let mut one = CpuSet::new();
    one.set(first).unwrap();
    sched_setaffinity(Pid::from_raw(0), &one).unwrap();
    let alone = compare(&["true", "true", "--duet"]).code(2);
    sched_setaffinity(Pid::from_raw(0), &all).unwrap();
    alone.stderr(contains("--duet needs two processors and may use one"));
}

#[test]
fn a_gigabyte_through_the_pipe_needs_little_memory() {
    let _attack = Attack::on("memory", "a gigabyte through a pipe");
    let large = "head -c 1000000000 /dev/zero";
    let arguments = [large, large, "--runs", "1", "--output", "pipe"];
    compare(&arguments).code(11);
    // The largest of all processes that this test and those beside it have waited for.
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    assert!(peak < 500_000, "{peak} KiB");
}

#[test]
fn what_hangs_is_ended_with_the_children_of_its_children() {
    let _attack = Attack::on("kills", "a command that hangs with children of its children");
    let dir = TempDir::new().unwrap();
    let hangs = "sh -c \"sleep 1000 & echo \\$! >> pids; wait\" & wait";
    let arguments = ["true", hangs, "--timeout", "1.5", "--check", "status"];
    let ended = lab(&dir, &arguments).stdin(Stdio::null()).assert().code(1);
    ended.stderr(contains("was ended after 1.5 s, the --timeout"));
    let pids = lines(&dir, "pids");
    assert_eq!(pids.len(), 1);
    for pid in pids {
        wait_for_end_of(&pid);
    }
}

/// Until the process is gone, or is a zombie that somebody else has to collect.
fn wait_for_end_of(process: &str) {
    let stat = format!("/proc/{process}/stat");
    for _ in 0..200 {
        match fs::read_to_string(&stat) {
            Ok(text) if !text.contains(") Z ") => thread::sleep(Duration::from_millis(50)),
            _ => return,
        }
    }
    panic!("process {process} is still there");
}
