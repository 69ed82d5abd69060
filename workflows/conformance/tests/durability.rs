//! Back ends that say that nothing is lost, killed at random points. After each kill the same spec
//! on the same folder goes on; in the end every step is there once, with its value.
//!
//! `LAB_KILLS` says how many seeds to try; a few without it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lab_protocol::workflow::{Workload, input, row};
use lab_protocol::{RunOutcome, Status, exit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workflows_conformance::{
    Finished, Sessions, UnderWay, Variant, check, is_missing, line, outcome, sessions_of, shapes,
    skipped, total, variant, workload,
};

/// How many seeds, where nothing else is said.
fn kills(few: u64) -> u64 {
    let said = std::env::var("LAB_KILLS").ok();
    said.map_or(few, |said| said.parse().expect("LAB_KILLS is a number"))
}

/// A batch of each task: amounts of a thousand rows are added up on two levels.
fn batches(folder: &Path, seed: u64) -> Workload {
    let batch = shapes().into_iter().find(|shape| shape.name == "csv_batch").unwrap();
    Workload { seed, tasks: 40, in_flight: 2, ..workload(&batch, folder) }
}

/// All steps once, with their values, and no amount lost or added.
fn whole(who: &str, workload: &Workload, outcome: &RunOutcome) {
    check(who, workload, outcome);
    let amounts = (0..workload.tasks).flat_map(|task| {
        let input = input(workload.seed, task);
        (0..1_000).map(move |index| row(input, index))
    });
    let conserved: u64 = amounts.sum();
    assert_eq!(total(workload, outcome), conserved.cast_signed(), "{who}");
}

fn said(finished: &Finished) -> RunOutcome {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"))
}

/// A number below `below` that depends on the seed and on which of its draws this is.
fn draw(seed: u64, which: u64, below: u64) -> u64 {
    // Any function that spreads will do; the protocol has one.
    input(seed.wrapping_mul(1_000).wrapping_add(which), 0) * 7_919 % below
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

#[test]
fn a_journal_whose_process_is_killed_loses_and_repeats_nothing() {
    let journal = variant("journal");
    let mut killed = 0;
    for seed in 0..kills(8) {
        let folder = tempfile::tempdir().unwrap();
        let (workload, file) = (batches(folder.path(), seed), folder.path().join("journal"));
        for which in 0..2 {
            let mut run = UnderWay::start(&journal, &line(&workload), None);
            // All of it is some 40 kilobytes.
            let point = length(&file) + draw(seed, which, 20_000);
            killed += u64::from(run.until(|| length(&file) > point));
            run.kill();
        }
        let who = format!("seed {seed}");
        whole(&who, &workload, &outcome(&journal, &workload));
        each_once(&who, &workload, &file);
    }
    assert!(killed > 0, "every run had ended before it was to be killed");
}

/// Reads the journal as anybody could: its lines, by words.
fn each_once(who: &str, workload: &Workload, journal: &Path) {
    let text = fs::read_to_string(journal).unwrap();
    let of = |kind: &str, words: usize| {
        let lines = text.lines().map(|line| line.split(' ').skip(3).collect::<Vec<_>>());
        let found = lines.filter(|line| line[0] == kind).map(|line| line[1..=words].join(" "));
        let mut found: Vec<String> = found.collect();
        found.sort_unstable();
        found
    };
    let (tasks, steps) = (of("task", 1), of("step", 3));
    let count = (workload.tasks + workload.warmup_tasks) as usize;
    assert_eq!((tasks.len(), steps.len()), (count, 7 * count), "{who}");
    for found in [tasks, steps] {
        assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{who}: recorded twice");
    }
}

#[test]
fn a_journal_that_was_cut_off_anywhere_goes_on_and_a_damaged_one_does_not() {
    let (journal, folder) = (variant("journal"), tempfile::tempdir().unwrap());
    let (workload, file) = (batches(folder.path(), 1), folder.path().join("journal"));
    outcome(&journal, &workload);
    let whole_file = fs::read(&file).unwrap();
    for which in 0..4 {
        let end = draw(1, which, whole_file.len() as u64) as usize;
        fs::write(&file, &whole_file[..end]).unwrap();
        whole("cut off", &workload, &outcome(&journal, &workload));
    }
    let mut damaged = whole_file.clone();
    damaged[500] ^= 1;
    fs::write(&file, &damaged).unwrap();
    let outcome = outcome(&journal, &workload);
    assert_eq!(outcome.status, Status::Failed);
    assert!(outcome.reason.unwrap().contains("the journal is damaged after byte"));
    assert_eq!(fs::read(&file).unwrap(), damaged, "a damaged journal was written to");
}

#[test]
fn a_full_disk_ends_a_journal_with_a_clear_state_and_room_lets_it_go_on() {
    let (journal, folder) = (variant("journal"), tempfile::tempdir().unwrap());
    let (workload, file) = (batches(folder.path(), 2), folder.path().join("journal"));
    let mut last = 0;
    for blocks in [9, 30] {
        let finished = UnderWay::start(&journal, &line(&workload), Some(blocks)).finish();
        assert_eq!(finished.code, Some(exit::FAILED), "{finished:?}");
        let outcome = said(&finished);
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("make room and start again"), "{reason}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.ends_with('\n'), "something is half written: {:?}", text.lines().last());
        assert!(text.len() > last, "the second run did not go on");
        last = text.len();
    }
    whole("room again", &workload, &outcome(&journal, &workload));
    each_once("room again", &workload, &file);
}

/// A small disk, a run on it, more room, and the same run again: `$0 MOUNT SPEC BEFORE AFTER`.
const SMALL_DISK: &str = r#"
mount -t tmpfs -o size=52m none "$1" || exit 77
timeout 120 "$0" < "$2" > "$3"
mount -o remount,size=400m "$1" || exit 77
timeout 120 "$0" < "$2" > "$4"
"#;

#[test]
fn a_full_disk_ends_a_database_with_a_clear_state_and_room_lets_it_go_on() {
    let (postgres, folder) = (variant("postgres"), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("disk")).unwrap();
    // A new cluster takes some 40 megabytes, most of it a segment of the log; the second fills it.
    let workload = Workload { tasks: 3_000, ..batches(&at("disk"), 5) };
    fs::write(at("spec"), line(&workload)).unwrap();
    let mut small = Command::new("unshare");
    small.args(["--mount", "sh", "-c", SMALL_DISK]).arg(&postgres.program).arg(at("disk"));
    small.args(["spec", "before", "after"].map(at));
    let status = small.stderr(Stdio::null()).status();
    if status.is_err() || fs::metadata(at("after")).is_err() {
        skipped("a small disk cannot be mounted here");
        return;
    }
    let outcome = |name: &str| -> RunOutcome {
        serde_json::from_str(&fs::read_to_string(at(name)).unwrap()).unwrap()
    };
    let before = outcome("before");
    if is_missing(&before) {
        return;
    }
    assert_eq!(before.status, Status::Failed);
    let reason = before.reason.unwrap();
    // A later PostgreSQL may not even find room for an empty cluster.
    let clear = ["start again with the same folder", "initdb failed"];
    assert!(clear.iter().any(|words| reason.contains(words)), "{reason}");
    whole("room again", &workload, &outcome("after"));
}

#[test]
fn the_journal_and_the_database_of_another_workload_are_left_alone() {
    for variant in ["journal", "postgres", "postgres_rabbitmq"].map(variant) {
        let folder = tempfile::tempdir().unwrap();
        let first = outcome(&variant, &Workload { tasks: 2, ..batches(folder.path(), 3) });
        if is_missing(&first) {
            continue;
        }
        let other = outcome(&variant, &Workload { tasks: 2, ..batches(folder.path(), 4) });
        assert_eq!(other.status, Status::Failed);
        let reason = other.reason.unwrap();
        assert!(reason.contains("another workload: give an empty folder"), "{reason}");
    }
}

/// The run of a database's variant when its sessions are there, which are at least those of two
/// workers and the client; nothing where the machine has no such database.
fn under_way(postgres: &Variant, workload: &Workload) -> Option<(UnderWay, Sessions)> {
    let mut run = UnderWay::start(postgres, &line(workload), None);
    let mut found = None;
    let all_there = run.until(|| {
        found = sessions_of(Path::new(&workload.folder));
        found.as_ref().is_some_and(|found| found.sessions.len() >= 3)
    });
    if !all_there {
        let outcome = said(&run.finish());
        assert!(is_missing(&outcome), "it ended before its sessions were there: {outcome:?}");
        return None;
    }
    found.map(|found| (run, found))
}

#[test]
fn a_postgres_whose_processes_are_killed_loses_and_repeats_nothing() {
    for seed in 0..kills(3) {
        killed_and_whole(&variant("postgres"), seed);
    }
}

#[test]
fn a_broker_beside_it_whose_processes_are_killed_loses_and_repeats_nothing() {
    for seed in 0..kills(3) {
        killed_and_whole(&variant("postgres_rabbitmq"), seed);
    }
}

/// Kills the variant, its database, or its broker where it has one; then it goes on.
fn killed_and_whole(variant: &Variant, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let workload = batches(folder.path(), seed);
    let Some((mut run, found)) = under_way(variant, &workload) else { return };
    let (from, wait) = (Instant::now(), Duration::from_micros(draw(seed, 0, 200_000)));
    run.until(|| from.elapsed() >= wait);
    let broker = broker_of(folder.path()).filter(|_| seed % 3 == 2);
    if let Some(broker) = broker {
        kill(broker, Signal::SIGKILL).unwrap();
        stopped(run, "the broker is lost");
    } else if seed.is_multiple_of(2) {
        // Told by the system that its starter has gone, the server ends on its own.
        run.kill();
    } else {
        found.kill_server();
        stopped(run, "the database is lost");
    }
    whole(&format!("seed {seed}"), &workload, &outcome(variant, &workload));
    assert!(sessions_of(folder.path()).is_none(), "a server is left");
    assert_eq!(broker_of(folder.path()), None, "a broker is left");
    // Shown with --nocapture, where hundreds of seeds take half an hour.
    eprintln!("{}: seed {seed} lost and repeated nothing", variant.manifest.name);
}

/// A run that lost something ends with a clear state, if it did not end before.
fn stopped(run: UnderWay, lost: &str) {
    let finished = run.finish();
    let outcome = said(&finished);
    if outcome.status != Status::Ok {
        assert_eq!(finished.code, Some(exit::FAILED));
        let reason = outcome.reason.unwrap();
        assert!(reason.contains(lost), "{reason}");
        assert!(reason.contains("start again with the same folder"), "{reason}");
    }
}

/// The broker of a run works in a folder of its own.
fn broker_of(folder: &Path) -> Option<Pid> {
    let numbers = fs::read_dir("/proc").ok()?;
    let mut numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_one = |pid: &i32| {
        let works_in = fs::read_link(format!("/proc/{pid}/cwd"));
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        works_in.is_ok_and(|works_in| works_in == folder.join("broker")) && name == "beam.smp\n"
    };
    numbers.find(is_one).map(Pid::from_raw)
}

#[test]
fn a_session_that_is_lost_is_opened_again_and_its_step_is_done_by_another() {
    for name in ["postgres", "postgres_rabbitmq"] {
        sessions_are_lost(&variant(name));
    }
}

fn sessions_are_lost(postgres: &Variant) {
    // Ended one by one; and killed, upon which the server ends all sessions and takes new ones when
    // it has replayed its log. Without warm-up all of them are counted.
    let mut reconnections = 0;
    for (signal, times) in [(Signal::SIGTERM, 16), (Signal::SIGKILL, 10)] {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { tasks: 300, warmup_tasks: 0, ..batches(folder.path(), 1) };
        let Some((mut run, _)) = under_way(postgres, &workload) else { return };
        for which in 0..times {
            let from = Instant::now();
            let mut found = None;
            run.until(|| {
                found = sessions_of(folder.path()).filter(|found| found.sessions.len() >= 3);
                found.is_some() && from.elapsed() >= Duration::from_millis(40)
            });
            if let Some(found) = found {
                found.signal(draw(1, which, 100) as usize, signal);
            }
        }
        let outcome = said(&run.finish());
        whole(&format!("{signal}"), &workload, &outcome);
        reconnections += outcome.counters["reconnections"];
    }
    assert!(reconnections > 0, "no session was lost while tasks that count were under way");
}
