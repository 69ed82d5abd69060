//! Back ends that say that nothing is lost, killed at random points. After each kill the same spec
//! on the same folder goes on; in the end every step is there once, with its value.
//!
//! `LAB_KILLS` says how many seeds to try; a few without it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lab_protocol::Status;
use lab_protocol::workflows::Workload;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proof_kit::workflows::{
    FAMILY, Sessions, UnderWay, Variant, batches, draw, is_missing, kills, outcome, sessions_of,
    tagged, whole,
};

#[test]
fn what_another_workload_left_is_left_alone() {
    for variant in tagged(FAMILY, "durable") {
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
    let mut run = UnderWay::start(postgres, workload, None);
    let mut found = None;
    let all_there = run.until(|| {
        found = sessions_of(Path::new(&workload.folder));
        found.as_ref().is_some_and(|found| found.sessions.len() >= 3)
    });
    if !all_there {
        let outcome = run.outcome();
        assert!(is_missing(&outcome), "it ended before its sessions were there: {outcome:?}");
        return None;
    }
    found.map(|found| (run, found))
}

#[test]
fn a_database_or_broker_whose_processes_are_killed_loses_and_repeats_nothing() {
    for variant in tagged(FAMILY, "sessions") {
        (0..kills(3)).for_each(|seed| killed_and_whole(&variant, seed));
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
    eprintln!("{}: seed {seed} lost and repeated nothing", variant.name);
}

/// A run that lost something ends with a clear state, if it did not end before.
fn stopped(run: UnderWay, lost: &str) {
    let outcome = run.outcome();
    if outcome.status != Status::Ok {
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
    tagged(FAMILY, "sessions").iter().for_each(sessions_are_lost);
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
        let outcome = run.outcome();
        whole(&format!("{signal}"), &workload, &outcome);
        reconnections += outcome.counters["reconnections"];
    }
    assert!(reconnections > 0, "no session was lost while tasks that count were under way");
}
