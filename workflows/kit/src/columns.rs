//! Rows of tasks and steps, and the columns that they become.

use lab_protocol::workflows::names;

use std::collections::{BTreeMap, HashMap};

/// A step of a task that was done: when, by whom, and with which value. Times are
/// `CLOCK_MONOTONIC` in nanoseconds; `lab_protocol::workflows` says what each of them means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the protocol's page describes these columns")]
pub struct StepRow {
    pub task: u32,
    pub step: u32,
    pub part: u32,
    pub created_ns: i64,
    pub enqueued_ns: i64,
    pub claimed_ns: i64,
    pub started_ns: i64,
    pub finished_ns: i64,
    pub recorded_ns: i64,
    pub value: u64,
    pub claims: u32,
}

/// A task as its client saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskRow {
    pub(crate) task: u32,
    pub(crate) submitted_ns: i64,
    pub(crate) accepted_ns: i64,
    pub(crate) observed_ns: i64,
}

/// The columns of a run: of these tasks, and of those steps that are theirs.
pub(crate) fn columns(mut tasks: Vec<TaskRow>, steps: Vec<StepRow>) -> BTreeMap<String, Vec<i64>> {
    tasks.sort_unstable_by_key(|row| row.task);
    let wanted = |row: &StepRow| tasks.binary_search_by_key(&row.task, |task| task.task).is_ok();
    let mut steps: Vec<StepRow> = steps.into_iter().filter(wanted).collect();
    steps.sort_unstable_by_key(|row| (row.task, row.step, row.part));
    let mut recorded: HashMap<u32, i64> = HashMap::new();
    for row in &steps {
        let last = recorded.entry(row.task).or_insert(row.recorded_ns);
        *last = row.recorded_ns.max(*last);
    }
    // The worker learns that its step is recorded, and the client that the task is complete, each
    // in its own time: the client may be first, and then the step was recorded by then.
    let completed = |row: &TaskRow| {
        recorded.get(&row.task).map_or(row.observed_ns, |last| row.observed_ns.min(*last))
    };
    let of_tasks = |value: &dyn Fn(&TaskRow) -> i64| tasks.iter().map(value).collect();
    let of_steps = |value: &dyn Fn(&StepRow) -> i64| steps.iter().map(value).collect();
    let columns: [(&str, Vec<i64>); 16] = [
        (names::TASK, of_tasks(&|row| row.task.into())),
        (names::TASK_SUBMITTED_NS, of_tasks(&|row| row.submitted_ns)),
        (names::TASK_ACCEPTED_NS, of_tasks(&|row| row.accepted_ns)),
        (names::TASK_COMPLETED_NS, of_tasks(&completed)),
        (names::TASK_OBSERVED_NS, of_tasks(&|row| row.observed_ns)),
        (names::STEP_TASK, of_steps(&|row| row.task.into())),
        (names::STEP, of_steps(&|row| row.step.into())),
        (names::STEP_PART, of_steps(&|row| row.part.into())),
        (names::STEP_CREATED_NS, of_steps(&|row| row.created_ns)),
        (names::STEP_ENQUEUED_NS, of_steps(&|row| row.enqueued_ns)),
        (names::STEP_CLAIMED_NS, of_steps(&|row| row.claimed_ns)),
        (names::STEP_STARTED_NS, of_steps(&|row| row.started_ns)),
        (names::STEP_FINISHED_NS, of_steps(&|row| row.finished_ns)),
        (names::STEP_RECORDED_NS, of_steps(&|row| row.recorded_ns)),
        (names::STEP_VALUE, of_steps(&|row| row.value.cast_signed())),
        (names::STEP_CLAIMS, of_steps(&|row| row.claims.into())),
    ];
    columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect()
}
