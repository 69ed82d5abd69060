//! Whether an outcome is right.

use lab_protocol::workflows::{Shape, Workload, input};
use lab_protocol::{RunOutcome, Status};

const TASK_COLUMNS: [&str; 5] =
    ["task", "task_submitted_ns", "task_accepted_ns", "task_completed_ns", "task_observed_ns"];
const STEP_COLUMNS: [&str; 11] = [
    "step_task",
    "step",
    "step_part",
    "step_value",
    "step_claims",
    "step_created_ns",
    "step_enqueued_ns",
    "step_claimed_ns",
    "step_started_ns",
    "step_finished_ns",
    "step_recorded_ns",
];

/// Holds an outcome against the workload: every task, each of its steps once and with its value, in
/// order, and no time that runs backwards.
///
/// # Panics
/// When something is not as it must be; the message begins with `who`.
pub fn check(who: &str, workload: &Workload, outcome: &RunOutcome) {
    assert_eq!(outcome.status, Status::Ok, "{who}: {:?}", outcome.reason);
    let names: Vec<&str> = outcome.samples.keys().map(String::as_str).collect();
    let mut expected = [&TASK_COLUMNS[..], &STEP_COLUMNS].concat();
    expected.sort_unstable();
    assert_eq!(names, expected, "{who}");
    let tasks: Vec<i64> = (0..i64::from(workload.tasks)).collect();
    assert_eq!(outcome.samples["task"], tasks, "{who}");
    let truth: Vec<[i64; 4]> = (0..workload.tasks)
        .flat_map(|task| steps(&workload.shape, task, input(workload.seed, task)))
        .collect();
    let rows: Vec<[i64; 4]> = (0..outcome.samples["step"].len())
        .map(|row| std::array::from_fn(|column| outcome.samples[STEP_COLUMNS[column]][row]))
        .collect();
    assert_eq!(rows, truth, "{who}: task, step, part, value");
    assert!(outcome.samples["step_claims"].iter().all(|&claims| claims >= 1), "{who}");
    let in_order = |names: &[&str]| {
        for pair in names.windows(2) {
            let (early, late) = (&outcome.samples[pair[0]], &outcome.samples[pair[1]]);
            assert_eq!(early.len(), late.len(), "{who}: {pair:?}");
            let backwards = early.iter().zip(late).position(|(early, late)| early > late);
            assert_eq!(backwards, None, "{who}: {pair:?}");
        }
    };
    in_order(&["task_submitted_ns", "task_accepted_ns"]);
    in_order(&["task_submitted_ns", "task_completed_ns", "task_observed_ns"]);
    in_order(&STEP_COLUMNS[5..]);
}

/// The steps that a task has, by the definitions in `lab_protocol::workflows`: task, step, part,
/// value.
fn steps(shape: &Shape, task: u32, input: u64) -> Vec<[i64; 4]> {
    let mut known: Vec<Vec<u64>> = Vec::new();
    let mut rows = Vec::new();
    for (index, step) in (0..).zip(&shape.steps) {
        let first = |step: u32| known[step as usize].first().copied();
        let exists = step.when.is_none_or(|when| {
            first(when.step).is_some_and(|value| when.low <= value && value < when.high)
        });
        let parts = step.parts_of.map_or(1, |other| first(other).unwrap_or(0));
        let mut taken: Vec<u64> =
            step.after.iter().flat_map(|&other| known[other as usize].clone()).collect();
        if step.after.is_empty() {
            taken.push(input);
        }
        let parts = 0..if exists { parts } else { 0 };
        let values: Vec<u64> = parts.map(|part| step.operation.compute(&taken, part)).collect();
        rows.extend(
            (0..)
                .zip(&values)
                .map(|(part, value)| [i64::from(task), index, part, value.cast_signed()]),
        );
        known.push(values);
    }
    rows
}
