//! Refusing a workload that no variant can run, and shapes that are none.

use std::path::Path;

use lab_protocol::workflows::{MODULUS, Operation, Shape, Step, Workload};
use lab_variant::{RunError, at_least_one};

/// Refuses a workload that no variant can run.
///
/// # Errors
/// A sentence that names the key.
pub(crate) fn workload(workload: &Workload) -> Result<(), String> {
    at_least_one([
        ("tasks", workload.tasks),
        ("in_flight", workload.in_flight),
        ("workers", workload.workers),
    ])?;
    if !workload.processes.is_multiple_of(2) {
        return Err(format!(
            "processes is {}: two of them may be orchestrators and all others have workers, so \
             write an even number",
            workload.processes
        ));
    }
    if workload.tasks.checked_add(workload.warmup_tasks).is_none() {
        return Err("tasks and warmup_tasks together are more than 32 bits".to_owned());
    }
    shape(&workload.shape)
}

/// The run's folder.
///
/// # Errors
/// It is not there.
pub fn run_folder(workload: &Workload) -> Result<&Path, RunError> {
    let folder = Path::new(&workload.folder);
    match folder.is_absolute() && folder.is_dir() {
        true => Ok(folder),
        false => Err(RunError::setup(format!(
            "folder is {:?}: give the absolute path of a folder that is there",
            workload.folder
        ))),
    }
}

fn shape(shape: &Shape) -> Result<(), String> {
    let Some(last) = shape.steps.last() else {
        return Err(format!("shape {} has no step", shape.name));
    };
    if last.when.is_some() || last.parts_of.is_some() {
        return Err(format!(
            "step {} is the last: it gives the result, and must always be one step",
            last.name
        ));
    }
    (0u32..).zip(&shape.steps).try_for_each(|(index, each)| step(index, each))
}

fn step(index: u32, step: &Step) -> Result<(), String> {
    let deciders = step.when.map(|when| when.step).into_iter().chain(step.parts_of);
    if let Some(other) = step.after.iter().copied().chain(deciders).find(|other| *other >= index) {
        return Err(format!("step {} waits for step {other}, which is not before it", step.name));
    }
    match step.operation {
        Operation::Constant(value) if value >= MODULUS => {
            Err(format!("step {} is constant {value}; values are below 2^61 - 1", step.name))
        }
        _ => Ok(()),
    }
}
