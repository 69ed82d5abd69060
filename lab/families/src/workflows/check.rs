//! What a right answer is: every step has the value that its shape gives, every task has each of
//! its
//! steps exactly once, and no time runs backwards.

use std::collections::BTreeMap;

use lab_family::column;
use lab_protocol::workflows::names;
use lab_protocol::{
    RunOutcome,
    workflows::{Shape, Workload, input},
};

use crate::workflows::values::{Value, values};

/// A step's times in the order in which they must lie.
pub(crate) const STEP_TIMES: [&str; 6] = [
    names::STEP_CREATED_NS,
    names::STEP_ENQUEUED_NS,
    names::STEP_CLAIMED_NS,
    names::STEP_STARTED_NS,
    names::STEP_FINISHED_NS,
    names::STEP_RECORDED_NS,
];
/// A task's times. A back end may have done the last step before it tells the client that it took
/// the task over, so acceptance stands apart.
pub(crate) const TASK_TIMES: [&str; 3] =
    [names::TASK_SUBMITTED_NS, names::TASK_COMPLETED_NS, names::TASK_OBSERVED_NS];

/// Whether all tasks were done, rightly and once.
///
/// # Errors
/// A sentence that names the task, the step and both values.
pub(crate) fn answer(workload: &Workload, outcome: &RunOutcome) -> Result<(), String> {
    let tasks = workload.tasks as usize;
    let numbers = column(outcome, names::TASK, tasks)?;
    in_order(outcome, &TASK_TIMES, tasks)?;
    in_order(outcome, &[names::TASK_SUBMITTED_NS, names::TASK_ACCEPTED_NS], tasks)?;
    let rows = outcome.samples.get(names::STEP).map_or(0, Vec::len);
    in_order(outcome, &STEP_TIMES, rows)?;
    causes_first(&workload.shape, outcome, rows)?;
    let mut found = steps(outcome, rows)?;
    for &number in numbers {
        let task = u32::try_from(number).map_err(|_| format!("there is no task {number}"))?;
        let mut says = found.remove(&number).unwrap_or_default();
        says.sort_unstable();
        let truth = values(&workload.shape, input(workload.seed, task));
        if says != truth {
            return Err(difference(&workload.shape, number, &says, &truth));
        }
    }
    match found.keys().next() {
        Some(other) => Err(format!("there are steps of task {other}, which is not listed")),
        None => Ok(()),
    }
}

fn steps(outcome: &RunOutcome, rows: usize) -> Result<BTreeMap<i64, Vec<Value>>, String> {
    let of = |name: &str| column(outcome, name, rows);
    let (tasks, steps, parts) = (of(names::STEP_TASK)?, of(names::STEP)?, of(names::STEP_PART)?);
    let (claims, results) = (of(names::STEP_CLAIMS)?, of(names::STEP_VALUE)?);
    let mut found: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
    for row in 0..rows {
        if claims[row] < 1 {
            return Err(format!("a step of task {} was done and never claimed", tasks[row]));
        }
        let narrow = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
        found.entry(tasks[row]).or_default().push(Value {
            step: narrow(steps[row]),
            part: narrow(parts[row]),
            value: results[row].cast_unsigned(),
        });
    }
    Ok(found)
}

/// No step began before the steps whose values it takes were done.
fn causes_first(shape: &Shape, outcome: &RunOutcome, rows: usize) -> Result<(), String> {
    let of = |name: &str| column(outcome, name, rows);
    let (tasks, steps) = (of(names::STEP_TASK)?, of(names::STEP)?);
    let (started, finished) = (of(names::STEP_STARTED_NS)?, of(names::STEP_FINISHED_NS)?);
    let mut last: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    for row in 0..rows {
        let done = last.entry((tasks[row], steps[row])).or_insert(i64::MIN);
        *done = finished[row].max(*done);
    }
    for row in 0..rows {
        // A step that the shape has not is told by its value.
        let index = usize::try_from(steps[row]).unwrap_or(usize::MAX);
        let Some(step) = shape.steps.get(index) else { continue };
        let decides = step.when.map(|when| when.step);
        for cause in step.after.iter().copied().chain(step.parts_of).chain(decides) {
            let done = last.get(&(tasks[row], i64::from(cause)));
            if let Some(done) = done.filter(|done| **done > started[row]) {
                let (name, task, start) = (&step.name, tasks[row], started[row]);
                return Err(format!(
                    "{name} of task {task} began at {start}, but what it takes was done at {done}"
                ));
            }
        }
    }
    Ok(())
}

fn difference(shape: &Shape, task: i64, says: &[Value], truth: &[Value]) -> String {
    let row = says.iter().zip(truth).take_while(|(says, truth)| says == truth).count();
    let shown = |value: Option<&Value>| {
        value.map_or("nothing further".to_owned(), |value| {
            let step = shape.steps.get(value.step as usize);
            let name = step.map_or("a step that the shape has not", |step| step.name.as_str());
            format!("{name} (part {}) = {}", value.part, value.value)
        })
    };
    format!("task {task} has {}, it must have {}", shown(says.get(row)), shown(truth.get(row)))
}

fn in_order(outcome: &RunOutcome, names: &[&str], rows: usize) -> Result<(), String> {
    for pair in names.windows(2) {
        let (before, after) = (column(outcome, pair[0], rows)?, column(outcome, pair[1], rows)?);
        if let Some(row) = (0..rows).find(|&row| before[row] > after[row]) {
            return Err(format!("row {row}: {} lies before {}", pair[1], pair[0]));
        }
    }
    Ok(())
}
