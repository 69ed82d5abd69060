//! What this back end alone promises: a commit and a message for each transition, and no other,
//! whether its workers are threads or processes that the broker alone connects.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use workflows_conformance::{
    UnderWay, batches, check, draw, is_missing, outcome, shapes, variant, whole, workload,
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
