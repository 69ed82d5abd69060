//! How long back ends take to come back: killed with all their processes while tasks are under
//! way, they are started again in the same folder, and nothing may be lost.
//!
//! What a kill costs is the time of both runs together, less that of a run without a kill. Shown
//! with --nocapture, for as many seeds as `LAB_KILLS` says; `tools/proof coming-back` makes a table
//! of it.

use std::time::{Duration, Instant};

use lab_protocol::RunOutcome;
use lab_protocol::workflows::Workload;
use nix::time::{ClockId, clock_gettime};
use proof_kit::workflows::{
    FAMILY, UnderWay, Variant, batches, draw, is_missing, kills, outcome, tagged, whole,
};

/// So that the tasks take longer than the start of a process varies.
const TASKS: u32 = 120;

#[test]
fn a_back_end_whose_processes_are_all_killed_comes_back_and_loses_nothing() {
    for variant in tagged(FAMILY, "durable") {
        for seed in 0..kills(1) {
            if !killed_and_back(&variant, seed) {
                break;
            }
        }
    }
}

/// False where the machine lacks it.
fn killed_and_back(variant: &Variant, seed: u64) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { tasks: TASKS, ..batches(folder.path(), seed) };
    let (from, from_ns, undisturbed) = (Instant::now(), now_ns(), outcome(variant, &workload));
    if is_missing(&undisturbed) {
        return false;
    }
    let without = from.elapsed();
    whole(&variant.name, &workload, &undisturbed);

    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { tasks: TASKS, ..batches(folder.path(), seed) };
    let wait = while_under_way(&undisturbed, from_ns, seed);
    let from = Instant::now();
    let mut run = UnderWay::start(variant, &workload, None);
    let was_over = !run.until(|| from.elapsed() >= wait);
    run.kill_all();
    let after = from.elapsed();
    let outcome = outcome(variant, &workload);
    let with = from.elapsed();
    whole(&format!("{} seed {seed}", variant.name), &workload, &outcome);
    eprintln!(
        "came back\t{}\t{seed}\t{}\t{}\t{}\t{}",
        variant.name,
        if was_over { "it was over" } else { "tasks under way" },
        after.as_millis(),
        without.as_millis(),
        with.as_millis()
    );
    true
}

/// Some time after the start, when of tasks some are done and some are not.
fn while_under_way(undisturbed: &RunOutcome, start_ns: i64, seed: u64) -> Duration {
    let first_ns = undisturbed.samples["task_submitted_ns"].iter().min().unwrap();
    let last_ns = undisturbed.samples["task_observed_ns"].iter().max().unwrap();
    let percent = 10 + draw(seed, 1, 80).cast_signed();
    let after_ns = first_ns - start_ns + (last_ns - first_ns) * percent / 100;
    Duration::from_nanos(after_ns.unsigned_abs())
}

/// As the columns of an outcome.
fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    now.tv_sec() * 1_000_000_000 + now.tv_nsec()
}
