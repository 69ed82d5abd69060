//! What this back end alone promises: a commit and a message for each transition, and no other,
//! whether its workers are threads or processes that the broker alone connects.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use proof_kit::workflows::{
    Status, UnderWay, batches, check, draw, is_missing, on_a_small_disk, outcome, shapes, skipped,
    variant, whole, workload,
};
use workflows_kit::{Operation, Workload};

#[test]
fn a_message_gives_a_worker_each_step_and_one_tells_of_each_task() {
    let variant = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(&variant, &workload(&shape, folder.path()));
        if is_missing(&outcome) {
            return;
        }
        let steps = outcome.samples["step"].len() as u64;
        for counter in ["commits", "messages", "statements"] {
            assert_eq!(outcome.counters[counter], steps + 4, "{}: {counter}", shape.name);
        }
    }
}

#[test]
fn processes_that_the_broker_connects_do_every_shape_rightly() {
    let variant = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { tasks: 8, in_flight: 4, ..workload(&shape, folder.path()) };
        let workload = Workload { processes: 4, workers: 6, ..workload };
        let outcome = outcome(&variant, &workload);
        if is_missing(&outcome) {
            return;
        }
        check(&shape.name, &workload, &outcome);
        // Counted in each process, and over all of them as in one.
        let steps = outcome.samples["step"].len() as u64;
        assert_eq!(outcome.counters["messages"], steps + 8, "{}", shape.name);
    }
}

#[test]
fn a_worker_process_that_is_killed_leaves_its_message_to_another() {
    let variant = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    let folder = tempfile::tempdir().unwrap();
    let mut workload = batches(folder.path(), 4);
    workload.shape.steps[1].operation = Operation::SumRows(200_000);
    let workload = Workload { warmup_tasks: 0, tasks: 20, in_flight: 4, ..workload };
    let workload = Workload { processes: 4, workers: 4, ..workload };
    let mut run = UnderWay::start(&variant, &workload, None);
    while run.processes("--worker").len() < 4 {
        let from = Instant::now();
        if !run.until(|| from.elapsed() >= Duration::from_millis(5)) {
            assert!(is_missing(&run.outcome()), "it ended before its processes were there");
            return;
        }
    }
    // The last has just been started: a while later it has steps.
    let from = Instant::now();
    run.until(|| from.elapsed() >= Duration::from_millis(150));
    let found = run.processes("--worker");
    if let Some(one) = found.get(draw(4, 1, 97) as usize % found.len().max(1)) {
        let _ = kill(*one, Signal::SIGKILL);
    }
    whole("killed", &workload, &run.outcome());
}

/// Connections of a worker each, and of the client.
const CONNECTIONS: usize = 3;

#[test]
fn a_connection_that_is_cut_is_opened_again_and_nothing_is_lost_or_repeated() {
    let variant = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { tasks: 300, warmup_tasks: 0, ..batches(folder.path(), 6) };
    let mut run = UnderWay::start(&variant, &workload, None);
    let mut cuts = 0;
    while cuts < 16 {
        let from = Instant::now();
        if !run.until(|| from.elapsed() >= Duration::from_millis(40)) {
            break;
        }
        let Some(port) = port(folder.path()) else { continue };
        let found = run.connections(port);
        if found.sockets.len() < CONNECTIONS {
            continue;
        }
        if let Err(error) = found.cut(draw(6, cuts, 100) as usize) {
            return skipped(&format!("no connection of another process can be cut here: {error}"));
        }
        cuts += 1;
    }
    let outcome = run.outcome();
    if is_missing(&outcome) {
        return;
    }
    whole("cut", &workload, &outcome);
    assert!(outcome.counters["reconnections"] > 0, "none of {cuts} cuts was noticed");
}

/// Where the broker of a run listens, when it has been told.
fn port(folder: &Path) -> Option<u16> {
    let told = fs::read_to_string(folder.join("broker/rabbitmq.conf")).ok()?;
    told.lines().find_map(|line| line.strip_prefix("listeners.tcp.1 = 127.0.0.1:")?.parse().ok())
}

#[test]
fn a_full_disk_ends_a_broker_with_a_clear_state_and_room_lets_it_go_on() {
    let variant = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    let folder = tempfile::tempdir().unwrap();
    let workload = batches(folder.path(), 7);
    // Below 50 free megabytes a broker takes no more messages.
    let disk = folder.path().join("broker");
    let Some([before, after]) = on_a_small_disk(&variant, &workload, (&disk, 40)) else { return };
    if is_missing(&before) {
        return;
    }
    assert_eq!(before.status, Status::Failed);
    let reason = before.reason.unwrap();
    for words in ["is its disk or memory full?", "start again with the same folder"] {
        assert!(reason.contains(words), "{reason}");
    }
    whole("room again", &workload, &after);
}
