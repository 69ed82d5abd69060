//! Tasks and their steps, read from a run's columns.

use std::collections::BTreeMap;

use lab_protocol::workflows::names;
use lab_record::Samples;

/// Of most runs a committed report keeps these instead of steps: for each task how many it had and
/// how many rows they added up; of all tasks together the time that workers had steps, twice the
/// median of each transition, and the critical paths by part.
pub(crate) const STEP_COUNT: &str = "task_steps";
pub(crate) const TASK_ROWS: &str = "task_rows";
pub(crate) const HAD: &str = "steps_had_total_ns";
pub(crate) const TWICE_MEDIANS: &str = "step_medians_twice_ns";
pub(crate) const PATH_PARTS: &str = "path_parts_total_ns";

/// One task and its steps, in the order in which the run lists them. Times in nanoseconds of one
/// clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) submitted: i64,
    pub(crate) completed: i64,
    pub(crate) observed: i64,
    /// How many steps it has.
    pub(crate) step_count: usize,
    /// None where the record keeps only their number.
    pub(crate) steps: Vec<Step>,
}

/// One step of a task, or one part of a fan-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its index in the shape.
    pub(crate) step: usize,
    pub(crate) part: usize,
    pub(crate) created: i64,
    pub(crate) enqueued: i64,
    pub(crate) claimed: i64,
    pub(crate) started: i64,
    pub(crate) finished: i64,
    pub(crate) recorded: i64,
}

impl Task {
    /// From submission until the client knows.
    pub(crate) fn makespan(&self) -> i64 {
        self.observed - self.submitted
    }
}

/// The tasks of a run, in order of submission; `None` where a column is missing or too short.
pub(crate) fn tasks(samples: &Samples) -> Option<Vec<Task>> {
    let numbers = samples.raw(names::TASK)?;
    let of_task = |name: &str| aligned(samples, name, numbers.len());
    let submitted = of_task("task_submitted_ns")?;
    let (completed, observed) = (of_task("task_completed_ns")?, of_task("task_observed_ns")?);
    let counts = of_task(STEP_COUNT);
    let mut by_task = if counts.is_some() { BTreeMap::new() } else { steps(samples)? };
    let task = |(row, number): (usize, &i64)| {
        let steps = by_task.remove(number).unwrap_or_default();
        let step_count = match counts {
            Some(counts) => usize::try_from(counts[row]).ok()?,
            None => steps.len(),
        };
        let (completed, observed) = (completed[row], observed[row]);
        Some(Task { submitted: submitted[row], completed, observed, step_count, steps })
    };
    numbers.iter().enumerate().map(task).collect()
}

fn steps(samples: &Samples) -> Option<BTreeMap<i64, Vec<Step>>> {
    let tasks = samples.raw(names::STEP_TASK)?;
    let of = |name: &str| aligned(samples, name, tasks.len());
    let (index, part) = (of(names::STEP)?, of(names::STEP_PART)?);
    let (created, enqueued) = (of(names::STEP_CREATED_NS)?, of(names::STEP_ENQUEUED_NS)?);
    let (claimed, started) = (of(names::STEP_CLAIMED_NS)?, of(names::STEP_STARTED_NS)?);
    let (finished, recorded) = (of(names::STEP_FINISHED_NS)?, of(names::STEP_RECORDED_NS)?);
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
