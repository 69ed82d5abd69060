//! Tasks and their steps, read from a run's columns.

use std::collections::BTreeMap;

use lab_record::Samples;

/// One task and its steps, in the order in which the run lists them. Times in nanoseconds of one
/// clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) submitted: i64,
    pub(super) accepted: i64,
    pub(super) completed: i64,
    pub(super) observed: i64,
    pub(super) steps: Vec<Step>,
}

/// One step of a task, or one part of a fan-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Its index in the shape.
    pub(super) step: usize,
    pub(super) part: usize,
    pub(super) created: i64,
    pub(super) enqueued: i64,
    pub(super) claimed: i64,
    pub(super) started: i64,
    pub(super) finished: i64,
    pub(super) recorded: i64,
}

impl Task {
    /// From hand-in until the client knows.
    pub(super) fn makespan(&self) -> i64 {
        self.observed - self.submitted
    }
}

/// The tasks of a run, in order of submission; `None` where a column is missing or too short.
pub(super) fn tasks(samples: &Samples) -> Option<Vec<Task>> {
    let numbers = samples.raw("task")?;
    let of_task = |name: &str| aligned(samples, name, numbers.len());
    let (submitted, accepted) = (of_task("task_submitted_ns")?, of_task("task_accepted_ns")?);
    let (completed, observed) = (of_task("task_completed_ns")?, of_task("task_observed_ns")?);
    let mut by_task = steps(samples)?;
    let task = |(row, number): (usize, &i64)| Task {
        submitted: submitted[row],
        accepted: accepted[row],
        completed: completed[row],
        observed: observed[row],
        steps: by_task.remove(number).unwrap_or_default(),
    };
    Some(numbers.iter().enumerate().map(task).collect())
}

fn steps(samples: &Samples) -> Option<BTreeMap<i64, Vec<Step>>> {
    let tasks = samples.raw("step_task")?;
    let of = |name: &str| aligned(samples, name, tasks.len());
    let (index, part) = (of("step")?, of("step_part")?);
    let (created, enqueued) = (of("step_created_ns")?, of("step_enqueued_ns")?);
    let (claimed, started) = (of("step_claimed_ns")?, of("step_started_ns")?);
    let (finished, recorded) = (of("step_finished_ns")?, of("step_recorded_ns")?);
    let mut found: BTreeMap<i64, Vec<Step>> = BTreeMap::new();
    for (row, task) in tasks.iter().enumerate() {
        found.entry(*task).or_default().push(Step {
            step: usize::try_from(index[row]).ok()?,
            part: usize::try_from(part[row]).ok()?,
            created: created[row],
            enqueued: enqueued[row],
            claimed: claimed[row],
            started: started[row],
            finished: finished[row],
            recorded: recorded[row],
        });
    }
    Some(found)
}

fn aligned<'s>(samples: &'s Samples, name: &str, rows: usize) -> Option<&'s [i64]> {
    samples.raw(name).filter(|column| column.len() == rows)
}
