//! The only handler: it does whatever operation a step's template names.
//!
//! What it reads of the template's `initialization`: `operation`, as the lab's protocol writes it;
//! `after`, the names of the steps whose values it takes; for a decision `branches`, each with its
//! `name`, `low` and `high`; for a fan-out `parts`, the name of the step of which as many are made.

use std::sync::Arc;

use async_trait::async_trait;
use lab_protocol::workflows::Operation;
use nix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::{Value, json};
use tasker_shared::messaging::{
    BatchProcessingOutcome, CursorConfig, DecisionPointOutcome, StepExecutionResult,
};
use tasker_shared::types::base::TaskSequenceStep;
use tasker_shared::{TaskerError, TaskerResult};
use tasker_worker::worker::handlers::{StepHandler, StepHandlerRegistry};

/// What the templates call.
const NAME: &str = "lab";

/// The handler, and the registry that has it alone.
#[derive(Debug)]
pub struct Operations;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    operation: Operation,
    after: Vec<String>,
    #[serde(default)]
    branches: Vec<Branch>,
    parts: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Branch {
    name: String,
    low: u64,
    high: u64,
}

#[async_trait]
impl StepHandler for Operations {
    /// The result is an object: `value`, `started_ns` and `finished_ns` around the operation, and
    /// what tasker looks for after a decision or a fan-out.
    async fn call(&self, step: &TaskSequenceStep) -> TaskerResult<StepExecutionResult> {
        let wanted = wanted(step)?;
        let inputs = inputs(step, &wanted.after)?;
        let part = part(step);
        let started_ns = now_ns();
        let value = wanted.operation.compute(&inputs, part);
        let finished_ns = now_ns();
        let mut result =
            json!({ "value": value, "started_ns": started_ns, "finished_ns": finished_ns });
        if !wanted.branches.is_empty() {
            result["decision_point_outcome"] = decision(&wanted.branches, value);
        }
        if let Some(name) = wanted.parts {
            result["batch_processing_outcome"] = fan_out(name, value);
        }
        let step = step.workflow_step.workflow_step_uuid;
        Ok(StepExecutionResult::success(step, result, 0, None))
    }

    fn name(&self) -> &str {
        NAME
    }
}

#[async_trait]
impl StepHandlerRegistry for Operations {
    async fn get(&self, step: &TaskSequenceStep) -> Option<Arc<dyn StepHandler>> {
        let known = step.step_definition.handler.callable == NAME;
        known.then(|| Arc::new(Self) as Arc<dyn StepHandler>)
    }

    fn register(&self, _: &str, _: Arc<dyn StepHandler>) {}

    fn handler_available(&self, name: &str) -> bool {
        name == NAME
    }

    fn registered_handlers(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }
}

fn wanted(step: &TaskSequenceStep) -> TaskerResult<Wanted> {
    let initialization = step.step_definition.handler.initialization.clone();
    let wanted = serde_json::from_value(Value::from_iter(initialization));
    wanted.map_err(|error| {
        let name = &step.step_definition.name;
        TaskerError::WorkerError(format!("the template of step {name}: {error}"))
    })
}

/// The values of the steps that this one takes, in order, or the task's input where it takes none.
/// A step that a decision left out has no value, and one that was made of another's template has
/// a number behind its name.
fn inputs(step: &TaskSequenceStep, after: &[String]) -> TaskerResult<Vec<u64>> {
    if after.is_empty() {
        let context = step.task.task.context.as_ref();
        return number(context, "input").map(|input| vec![input]);
    }
    let mut inputs = Vec::new();
    for name in after {
        let of_name = |known: &&String| {
            let number = known.strip_prefix(name.as_str());
            number.is_some_and(|number| number.is_empty() || number.starts_with('_'))
        };
        let mut found: Vec<&String> = step.dependency_results.keys().filter(of_name).collect();
        found.sort();
        for known in found {
            inputs.push(number(Some(&step.dependency_results[known].result), "value")?);
        }
    }
    Ok(inputs)
}

/// Which of the steps that a fan-out made; 0 for any other.
fn part(step: &TaskSequenceStep) -> u64 {
    let cursor = step.workflow_step.inputs.as_ref().and_then(|inputs| inputs.get("cursor"));
    cursor.and_then(|cursor| cursor.get("start_cursor")?.as_u64()).unwrap_or(0)
}

fn decision(branches: &[Branch], value: u64) -> Value {
    let taken = branches.iter().filter(|branch| (branch.low..branch.high).contains(&value));
    let names: Vec<String> = taken.map(|branch| branch.name.clone()).collect();
    DecisionPointOutcome::create_steps(names).to_value()
}

fn fan_out(name: String, parts: u64) -> Value {
    let cursor = |part: u64| CursorConfig {
        // Its name's end, which must sort as the number does.
        batch_id: format!("{part:05}"),
        start_cursor: json!(part),
        end_cursor: json!(part + 1),
        batch_size: 1,
    };
    let cursors = (0..parts).map(cursor).collect();
    BatchProcessingOutcome::create_batches(name, parts as u32, cursors, parts).to_value()
}

fn number(of: Option<&Value>, key: &str) -> TaskerResult<u64> {
    of.and_then(|of| of.get(key)?.as_u64())
        .ok_or_else(|| TaskerError::WorkerError(format!("there is no number {key}: {of:?}")))
}

/// `CLOCK_MONOTONIC`, as on the other side of the door.
fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has this clock");
    now.tv_sec() * 1_000_000_000 + now.tv_nsec()
}
