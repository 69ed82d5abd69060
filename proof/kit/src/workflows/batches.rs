//! Batches whose sum shows whether a step was lost or repeated, for runs that are killed.

use std::env;
use std::path::Path;

use lab_protocol::RunOutcome;
use lab_protocol::workflows::{Operation, Workload, input, row};

use super::{check, shape, workload};

/// How many seeds to try: what `LAB_KILLS` says, or a few.
///
/// # Panics
/// Where it is no number.
pub fn kills(few: u64) -> u64 {
    let said = env::var("LAB_KILLS").ok();
    said.map_or(few, |said| said.parse().expect("LAB_KILLS is a number"))
}

/// A number below `below` that depends on the seed and on which of its draws this is.
pub fn draw(seed: u64, which: u64, below: u64) -> u64 {
    // Any function that spreads will do; the protocol has one.
    input(seed.wrapping_mul(1_000).wrapping_add(which), 0) * 7_919 % below
}

/// A batch of each task: amounts of a thousand rows are added up on two levels.
pub fn batches(folder: &Path, seed: u64) -> Workload {
    Workload { seed, tasks: 40, in_flight: 2, ..workload(&shape("csv_batch"), folder) }
}

/// Sees that all steps are there once, with their values, and that no amount was lost or added.
///
/// # Panics
/// When that is not so, or these are no [`batches`].
pub fn whole(who: &str, workload: &Workload, outcome: &RunOutcome) {
    check(who, workload, outcome);
    let Operation::SumRows(rows) = workload.shape.steps[1].operation else { panic!("no batch") };
    let amounts = (0..workload.tasks).flat_map(|task| {
        let input = input(workload.seed, task);
        (0..5 * rows).map(move |index| row(input, index))
    });
    let conserved: u64 = amounts.sum();
    let last = workload.shape.steps.len() as i64 - 1;
    let steps = outcome.samples["step"].iter().zip(&outcome.samples["step_value"]);
    let total: i64 = steps.filter(|(step, _)| **step == last).map(|(_, value)| value).sum();
    assert_eq!(total, conserved.cast_signed(), "{who}");
}
