//! A shape as a task template of tasker.

use serde_json::{Value, json};
use workflows_kit::{RunError, Shape};

pub(crate) const NAME: &str = "shape";
pub(crate) const NAMESPACE: &str = "lab";
pub(crate) const VERSION: &str = "1.0.0";

/// The template. A step that others are decided by is a decision of tasker's, and they are made
/// when it is done; the step of which a number are made is the template of a batch's workers; and
/// what follows either converges later.
///
/// # Errors
/// [`RunError::Unsupported`] where tasker has no such shape.
pub(crate) fn of(shape: &Shape) -> Result<Value, RunError> {
    let all = 0..shape.steps.len() as u32;
    let kinds: Option<Vec<Kind>> = all.clone().map(|index| kind(shape, index)).collect();
    let kinds = kinds.ok_or_else(|| {
        RunError::unsupported(format!(
            "there is no {} in tasker's terms: it decides about single steps that follow the \
             decision at once, fans out at once, and converges in the last step",
            shape.name
        ))
    })?;
    let steps: Vec<Value> = all.map(|index| step(shape, index, kinds[index as usize])).collect();
    Ok(json!({ "name": NAME, "namespace_name": NAMESPACE, "version": VERSION, "steps": steps }))
}

/// Steps of a shape may share a name, so tasker knows them by their index.
fn step_name(index: u32) -> String {
    format!("step_{index}")
}

/// The step, and which of its parts, of a name in tasker's tables.
pub(crate) fn step_of(name: &str) -> Option<(u32, u32)> {
    let numbers = name.strip_prefix("step_")?;
    let (step, part) = numbers.split_once('_').unwrap_or((numbers, "0"));
    Some((step.parse().ok()?, part.parse().ok()?))
}

/// tasker's types of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Standard,
    Decision,
    Batchable,
    BatchWorker,
    DeferredConvergence,
}

/// `None` where there is none for this step.
fn kind(shape: &Shape, index: u32) -> Option<Kind> {
    let steps = &shape.steps;
    let step = &steps[index as usize];
    let decides = steps.iter().any(|other| other.when.is_some_and(|when| when.step == index));
    let fans_out = steps.iter().any(|other| other.parts_of == Some(index));
    let decider = |other: &u32| {
        let other = &steps[*other as usize];
        other.when.map(|when| when.step).or(other.parts_of)
    };
    let late: Vec<Option<u32>> = step.after.iter().map(decider).collect();
    let follows_none = late.iter().all(Option::is_none);
    match (step.when, step.parts_of) {
        (None, None) if decides && follows_none => {
            (!fans_out && !step.after.is_empty()).then_some(Kind::Decision)
        }
        (None, None) if fans_out => follows_none.then_some(Kind::Batchable),
        (None, None) if follows_none => Some(Kind::Standard),
        (None, None) => {
            let of_one = late.iter().all(|other| *other == late[0]);
            let last = index as usize + 1 == steps.len();
            (of_one && last && !decides).then_some(Kind::DeferredConvergence)
        }
        (Some(when), None) => {
            (step.after == [when.step] && !decides && !fans_out).then_some(Kind::Standard)
        }
        (None, Some(_)) => {
            (step.after.is_empty() && !decides && !fans_out).then_some(Kind::BatchWorker)
        }
        (Some(_), Some(_)) => None,
    }
}

fn step(shape: &Shape, index: u32, kind: Kind) -> Value {
    let step = &shape.steps[index as usize];
    let after: Vec<String> = step.after.iter().copied().map(step_name).collect();
    let dependencies = match step.parts_of {
        Some(other) => vec![step_name(other)],
        None => after.clone(),
    };
    let mut initialization = json!({ "operation": step.operation, "after": after });
    let others = || (0u32..).zip(&shape.steps);
    if kind == Kind::Decision {
        let branches = others().filter_map(|(other, step)| {
            let when = step.when.filter(|when| when.step == index)?;
            Some(json!({ "name": step_name(other), "low": when.low, "high": when.high }))
        });
        initialization["branches"] = branches.collect();
    }
    if kind == Kind::Batchable {
        let parts = others().find(|(_, step)| step.parts_of == Some(index));
        initialization["parts"] = parts.map(|(other, _)| step_name(other)).into();
    }
    let mut template = json!({
        "name": step_name(index),
        "type": match kind {
            Kind::Standard => "standard",
            Kind::Decision => "decision",
            Kind::Batchable => "batchable",
            Kind::BatchWorker => "batch_worker",
            Kind::DeferredConvergence => "deferred_convergence",
        },
        "dependencies": dependencies,
        "handler": { "callable": "lab", "initialization": initialization },
    });
    if kind == Kind::BatchWorker {
        template["batch_config"] = json!({
            "batch_size": 1,
            "parallelism": 1_000,
            "cursor_field": "part",
            "worker_template": step_name(index),
            "failure_strategy": "fail_fast",
        });
    }
    template
}
