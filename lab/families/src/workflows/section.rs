//! The workload of the `workflows` family: tasks of one shape through a back end.

use std::{collections::BTreeMap, sync::Arc};

use lab_family::{
    Address, Answer, Cell, Checked, InputError, Levels, Needs, Places, Planned, Section, Truth,
    Work, draw,
};
use lab_protocol::workflows::{Beside, Wire, Worker, Workload};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::workflows::{BESIDE, FALLBACK, WIRE, check, shape::ShapeSection};

/// What one step takes with the slowest back end of ours, roughly: for forecasts, never for a
/// result.
const STEP_US: u64 = 1_500;
/// A back end's start and end, for forecasts.
const RUN_MS: u64 = 1_500;
/// A peer takes a hundred milliseconds a step.
const DEADLINE_FACTOR: u64 = 60;

/// `[workflows]` of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkflowsSection {
    /// The level of every factor that a group of cells does not name. Every variant must be able to
    /// do this cell, for each is checked on it first.
    pub defaults: Cell,
    /// Tasks of a run that count.
    pub tasks: u32,
    /// Tasks of a run before them.
    pub warmup_tasks: u32,
    /// Shapes by the level of `shape`.
    pub shape: BTreeMap<String, ShapeSection>,
    /// Tasks are divided by this; for smoke tests.
    #[serde(default = "one")]
    pub divide_by: u64,
}

fn one() -> u64 {
    1
}

impl WorkflowsSection {
    fn workload(&self, file: &str, cell: &Cell, seed: u64) -> Result<Workload, InputError> {
        let levels = Levels { file, section: "workflows", cell };
        let shape = levels.named("shape", &self.shape)?;
        let count = |factor: &str, most: u32| {
            let count = levels.number(factor)?;
            let allowed = || levels.refuse(factor, &format!("1 to {most}"));
            if (1..=most).contains(&count) { Ok(count) } else { Err(allowed()) }
        };
        let poll_ms = levels.number("poll_ms")?;
        if poll_ms > 10_000 {
            return Err(levels.refuse("poll_ms", "0 (push notification) to 10,000"));
        }
        // Left out, the back end is one process.
        let processes: u32 = match cell.get("processes") {
            Some(_) => levels.number("processes")?,
            None => 0,
        };
        if !processes.is_multiple_of(2) || processes > 64 {
            return Err(levels.refuse("processes", "an even number from 0 (threads) to 64"));
        }
        let wire = match cell.get(WIRE) {
            Some(_) => levels.one_of(WIRE, &[("pipe", Wire::Pipe), ("http", Wire::Http)])?,
            None => Wire::Pipe,
        };
        // So is who looks after how long, and nothing is done beside a step.
        let fallback_ms: u32 = match cell.get(FALLBACK) {
            Some(_) => levels.number_or(FALLBACK, "own")?.unwrap_or(0),
            None => 0,
        };
        let beside = match cell.get(BESIDE) {
            Some(_) => levels.one_of(BESIDE, &ALL_BESIDE)?,
            None => Beside::Nothing,
        };
        Ok(Workload {
            seed,
            shape: shape.resolve(file, levels.text("shape")?)?,
            warmup_tasks: self.warmup_tasks,
            tasks: (u64::from(self.tasks) / self.divide_by).max(1) as u32,
            in_flight: count("in_flight", 1_024)?,
            poll_ms,
            workers: count("workers", 256)?,
            processes,
            wire,
            fallback_ms,
            beside,
            worker: levels.one_of("worker", &WORKERS)?,
            worker_folder: String::new(),
            folder: String::new(),
        })
    }
}

impl Section for WorkflowsSection {
    fn defaults(&self) -> Cell {
        self.defaults.clone()
    }

    fn check(&self, file: &str) -> Result<(), InputError> {
        let error = |key: &str, message: &str| {
            Err(InputError::value(file, &format!("workflows.{key}"), message))
        };
        if self.tasks == 0 {
            return error("tasks", "must be at least 1");
        }
        if self.divide_by == 0 {
            return error("divide_by", "must be at least 1");
        }
        for (name, shape) in &self.shape {
            shape.resolve(file, name)?;
        }
        self.workload(file, &self.defaults, 0).map(drop)
    }

    fn needs(&self, _cells: &[Cell]) -> Needs {
        Needs { empty_folder: true, ..Needs::default() }
    }

    fn plan(&self, file: &str, at: &Address<'_>) -> Result<Planned, InputError> {
        // The same block has the same inputs for every back end.
        let seed = draw::seed(at.seed, &["tasks", &at.block.to_string()]);
        let workload = self.workload(file, at.cell, seed)?;
        let tasks = u64::from(workload.warmup_tasks + workload.tasks);
        let steps = workload.shape.steps.len() as u64;
        let waiting_ms = u64::from(workload.poll_ms);
        let expected_ms = RUN_MS + tasks * (steps * STEP_US / 1_000 + waiting_ms);
        let deadline_ms = 60_000 + DEADLINE_FACTOR * expected_ms;
        Ok(Planned { work: Arc::new(WorkflowsWork(workload)), expected_ms, deadline_ms })
    }
}

/// The tasks of one run.
#[derive(Debug)]
struct WorkflowsWork(Workload);

impl Work for WorkflowsWork {
    fn workload(&self, at: &Places) -> serde_json::Value {
        let folder = at.empty_folder.to_string_lossy().into_owned();
        let worker_folder = at.worker_folder.to_string_lossy().into_owned();
        json!(Workload { folder, worker_folder, ..self.0.clone() })
    }

    fn check(&self, answer: &Answer<'_>, _truth: &Truth<'_>) -> Result<Checked, String> {
        check::answer(&self.0, answer.outcome).map(|()| Checked::right())
    }
}

const ALL_BESIDE: [(&str, Beside); 10] = [
    ("nothing", Beside::Nothing),
    ("loud_log", Beside::LoudLog),
    ("quiet_log", Beside::QuietLog),
    ("locked_counts", Beside::LockedCounts),
    ("atomic_counts", Beside::AtomicCounts),
    ("locked_map", Beside::LockedMap),
    ("sharded_map", Beside::ShardedMap),
    ("blocking_breaker", Beside::BlockingBreaker),
    ("direct_breaker", Beside::DirectBreaker),
    ("pool_statistics", Beside::PoolStatistics),
];

const WORKERS: [(&str, Worker); 11] = [
    ("native", Worker::Native),
    ("native_process", Worker::NativeProcess),
    ("python_ffi", Worker::PythonFfi),
    ("python_process", Worker::PythonProcess),
    ("ruby_ffi", Worker::RubyFfi),
    ("ruby_process", Worker::RubyProcess),
    ("node_ffi", Worker::NodeFfi),
    ("node_process", Worker::NodeProcess),
    ("typescript_ffi", Worker::TypescriptFfi),
    ("typescript_process", Worker::TypescriptProcess),
    ("four_languages", Worker::FourLanguages),
];
