//! This back end as several processes on one database: its values, and what is left of them when
//! some of its processes are killed. A process that is killed is not started again; others go on.
//!
//! `LAB_KILLS` says how many seeds to try; a few without it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proof_kit::workflows::{
    RunOutcome, Status, UnderWay, Variant, check, draw, exit, is_missing, kills, outcome,
    sessions_of, shapes, variant, whole, workload,
};
use workflows_kit::{Operation, Wire, Worker, Workload};

/// Two orchestrators and two processes with a worker each.
const PROCESSES: u32 = 4;
const ORCHESTRATOR: &str = "--orchestrator";
const WORKER: &str = "--worker";

fn postgres() -> Variant {
    variant(Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// Batches, several at once, each of whose cursors adds up so many amounts.
fn batches(folder: &Path, seed: u64, rows: u64) -> Workload {
    let mut workload = proof_kit::workflows::batches(folder, seed);
    workload.shape.steps[1].operation = Operation::SumRows(rows);
    // Without warm-up every step is among those that are told of.
    Workload { warmup_tasks: 0, in_flight: 4, processes: PROCESSES, ..workload }
}

/// A run whose processes are all there and have their sessions; nothing where the machine has no
/// such database.
fn under_way(postgres: &Variant, workload: &Workload) -> Option<UnderWay> {
    let mut run = UnderWay::start(postgres, workload, None);
    let folder = Path::new(&workload.folder);
    // Two of each orchestrator, two of each process with a worker, one of the client.
    let has_all = || sessions_of(folder).is_some_and(|found| found.sessions.len() >= 9);
    if !run.until(has_all) {
        let outcome = run.outcome();
        assert!(is_missing(&outcome), "it ended before its sessions were there: {outcome:?}");
        return None;
    }
    Some(run)
}

/// Kills one of the processes with this argument after a while; false when all had ended.
fn kill_one(run: &mut UnderWay, argument: &str, seed: u64, below_us: u64) -> bool {
    let (from, wait) = (Instant::now(), Duration::from_micros(draw(seed, 0, below_us)));
    run.until(|| from.elapsed() >= wait);
    let found = run.processes(argument);
    let Some(&one) = found.get(draw(seed, 1, 97) as usize % found.len().max(1)) else {
        return false;
    };
    kill(one, Signal::SIGKILL).is_ok()
}

/// Hundredths of a second that a process has computed; many where it has ended.
fn ticks(process: Pid) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The fourteenth word, by proc(5); the second may have blanks and ends with a bracket.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.split_whitespace().nth(11).map_or(u64::MAX, |word| word.parse().unwrap_or(u64::MAX))
}

fn taken_over(outcome: &RunOutcome) -> usize {
    outcome.samples["step_claims"].iter().filter(|&&claims| claims > 1).count()
}

#[test]
fn several_processes_do_every_shape_rightly() {
    let postgres = postgres();
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload {
            tasks: 12,
            in_flight: 4,
            workers: 3,
            processes: PROCESSES,
            ..workload(&shape, folder.path())
        };
        let outcome = outcome(&postgres, &workload);
        if is_missing(&outcome) {
            return;
        }
        check(&shape.name, &workload, &outcome);
        assert_eq!(taken_over(&outcome), 0, "{}", shape.name);
        // Counted in each process, and over all of them as in one.
        let count = |key: &str| outcome.counters[key];
        let steps = outcome.samples["step"].len() as u64;
        assert!((8..=2 * steps + 12).contains(&count("commits")), "{outcome:?}");
        assert!(count("statements") >= count("commits") && count("messages") > 0);
        assert!(count("reconnections") == 0 && count("bare_commit_ns") > 0);
    }
}

#[test]
fn two_tasks_at_once_overlap_in_several_processes() {
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { in_flight: 2, warmup_tasks: 0, ..batches(folder.path(), 1, 2_000) };
    let outcome = outcome(&postgres(), &workload);
    if is_missing(&outcome) {
        return;
    }
    whole("two at once", &workload, &outcome);
    let (submitted, observed) =
        (&outcome.samples["task_submitted_ns"], &outcome.samples["task_observed_ns"]);
    assert!(submitted[1] < observed[0], "the second is handed in before the first is seen");
}

/// As the published cluster: two orchestrators, and two processes with workers in each of four
/// languages.
#[test]
fn ten_processes_with_workers_in_four_languages_do_every_shape_rightly() {
    let postgres = postgres();
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload {
            tasks: 8,
            in_flight: 4,
            workers: 8,
            processes: 10,
            worker: Worker::FourLanguages,
            ..workload(&shape, folder.path())
        };
        let outcome = outcome(&postgres, &workload);
        if is_missing(&outcome) {
            return;
        }
        check(&shape.name, &workload, &outcome);
        // The client, ten processes, those in which the four languages compute, and the server's.
        assert!(outcome.counters["all_processes"] > 1 + 10 + 8, "{outcome:?}");
    }
}

#[test]
fn ten_processes_do_every_shape_rightly() {
    let postgres = postgres();
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let ten = Workload { processes: 10, workers: 8, ..workload(&shape, folder.path()) };
        let outcome = outcome(&postgres, &Workload { tasks: 8, in_flight: 4, ..ten.clone() });
        if is_missing(&outcome) {
            return;
        }
        check(&shape.name, &Workload { tasks: 8, in_flight: 4, ..ten }, &outcome);
    }
}

#[test]
fn several_processes_talk_over_http_and_lose_nothing_with_one_of_them() {
    let postgres = postgres();
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { tasks: 8, in_flight: 4, ..workload(&shape, folder.path()) };
        let workload = Workload { processes: PROCESSES, wire: Wire::Http, ..workload };
        let outcome = outcome(&postgres, &workload);
        if is_missing(&outcome) {
            return;
        }
        check(&shape.name, &workload, &outcome);
        assert!(outcome.counters["commits"] >= 8, "counted in each process: {outcome:?}");
    }
    for argument in [WORKER, ORCHESTRATOR] {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { wire: Wire::Http, ..batches(folder.path(), 3, 200) };
        let Some(mut run) = under_way(&postgres, &workload) else { return };
        kill_one(&mut run, argument, 3, 20_000);
        whole(argument, &workload, &run.outcome());
    }
}

/// Whoever is told nothing looks by himself: seldom, often, and where all is in one process.
#[test]
fn events_have_polling_as_a_fallback_whose_interval_is_a_factor() {
    let postgres = postgres();
    for (processes, fallback_ms) in [(0, 5), (PROCESSES, 5), (PROCESSES, 2_000)] {
        let folder = tempfile::tempdir().unwrap();
        let batches = batches(folder.path(), 2, 200);
        let workload = Workload { processes, fallback_ms, tasks: 6, ..batches };
        let outcome = outcome(&postgres, &workload);
        if is_missing(&outcome) {
            return;
        }
        whole(&format!("{processes} processes, {fallback_ms} ms"), &workload, &outcome);
    }
}

#[test]
fn a_client_that_looks_sees_what_several_processes_did() {
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { poll_ms: 10, tasks: 6, ..batches(folder.path(), 0, 200) };
    let outcome = outcome(&postgres(), &workload);
    if !is_missing(&outcome) {
        whole("looking", &workload, &outcome);
    }
}

#[test]
fn a_worker_process_that_is_killed_loses_and_repeats_nothing() {
    let postgres = postgres();
    let (mut killed, mut taken) = (0, 0);
    for seed in 0..kills(3) {
        let folder = tempfile::tempdir().unwrap();
        let workload = batches(folder.path(), seed, 200);
        let Some(mut run) = under_way(&postgres, &workload) else { return };
        killed += u64::from(kill_one(&mut run, WORKER, seed, 60_000));
        let outcome = run.outcome();
        whole(&format!("seed {seed}"), &workload, &outcome);
        taken += taken_over(&outcome);
        assert!(sessions_of(folder.path()).is_none(), "a server is left");
    }
    assert!(killed > 0, "every run had ended before a process was to be killed");
    eprintln!("{killed} worker processes killed, {taken} steps taken over");
}

#[test]
fn a_step_whose_worker_is_killed_while_it_computes_is_done_by_another() {
    let postgres = postgres();
    let (few, mut taken) = (kills(2), 0);
    // Where the disk is slow, a worker waits for it more than it computes: then some more seeds.
    for seed in 0..few + 10 {
        if seed >= few && taken > 0 {
            break;
        }
        let folder = tempfile::tempdir().unwrap();
        // Almost all the time is in the operations.
        let workload = Workload { tasks: 6, ..batches(folder.path(), seed, 10_000_000) };
        let Some(mut run) = under_way(&postgres, &workload) else { return };
        let workers = run.processes(WORKER);
        run.until(|| workers.iter().all(|&one| ticks(one) > 2));
        kill_one(&mut run, WORKER, seed, 50_000);
        let outcome = run.outcome();
        whole(&format!("seed {seed}"), &workload, &outcome);
        taken += taken_over(&outcome);
    }
    assert!(taken > 0, "no step was under way when its worker was killed");
}

#[test]
fn the_tasks_of_an_orchestrator_that_is_killed_are_brought_to_their_end() {
    let postgres = postgres();
    let mut killed = 0;
    for seed in 0..kills(3) {
        let folder = tempfile::tempdir().unwrap();
        let workload = batches(folder.path(), seed, 200);
        let Some(mut run) = under_way(&postgres, &workload) else { return };
        killed += u64::from(kill_one(&mut run, ORCHESTRATOR, seed, 60_000));
        // One of each at once: whoever is told of the worker's end may be the one that ends.
        if seed % 2 == 1 {
            killed += u64::from(kill_one(&mut run, WORKER, seed, 1_000));
        }
        whole(&format!("seed {seed}"), &workload, &run.outcome());
        eprintln!("seed {seed}: {killed} processes killed so far");
    }
    assert!(killed > 0, "every run had ended before a process was to be killed");
}

#[test]
fn a_worker_whose_session_is_lost_while_it_computes_records_nothing_late() {
    let postgres = postgres();
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { tasks: 6, ..batches(folder.path(), 5, 10_000_000) };
    let Some(mut run) = under_way(&postgres, &workload) else { return };
    // The processes live on, and come with values of steps that others have by then.
    let mut lost = 0;
    for _ in 0..3 {
        let from = Instant::now();
        run.until(|| from.elapsed() >= Duration::from_millis(40));
        // Those that lost theirs before may still be asking for the next.
        let mut found = None;
        run.until(|| {
            found = sessions_of(folder.path()).filter(|found| !found.sessions.is_empty());
            found.is_some()
        });
        // Without one the run has ended: the next round finds none either.
        let Some(found) = found else { break };
        (0..found.sessions.len()).for_each(|one| found.signal(one, Signal::SIGTERM));
        lost += found.sessions.len();
    }
    assert!(lost > 0, "every run had ended before a session was to be lost");
    whole("late", &workload, &run.outcome());
}

#[test]
fn without_any_worker_process_a_run_ends_and_its_folder_goes_on() {
    let postgres = postgres();
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { tasks: 6, ..batches(folder.path(), 6, 10_000_000) };
    let Some(run) = under_way(&postgres, &workload) else { return };
    for one in run.processes(WORKER) {
        let _ = kill(one, Signal::SIGKILL);
    }
    let finished = run.finish();
    let ended: RunOutcome = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((ended.status, finished.code), (Status::Failed, Some(exit::FAILED)));
    let reason = ended.reason.unwrap();
    assert!(reason.contains("the last process with --worker has ended"), "{reason}");
    whole("again", &workload, &outcome(&postgres, &workload));
}

#[test]
fn a_client_that_is_killed_leaves_no_process_and_its_folder_goes_on() {
    let postgres = postgres();
    let folder = tempfile::tempdir().unwrap();
    let workload = batches(folder.path(), 7, 200);
    let Some(run) = under_way(&postgres, &workload) else { return };
    let mut left = [run.processes(ORCHESTRATOR), run.processes(WORKER)].concat();
    run.kill();
    // By whoever finds one on the same folder, with workers in threads this time.
    let again = Workload { processes: 0, ..workload };
    whole("again", &again, &outcome(&postgres, &again));
    let from = Instant::now();
    while !left.is_empty() && from.elapsed() < Duration::from_secs(60) {
        left.retain(|one| kill(*one, None).is_ok());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(left.is_empty(), "processes are left: {left:?}");
}
