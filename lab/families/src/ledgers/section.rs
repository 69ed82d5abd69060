//! The workload of the `ledgers` family: streams of transactions on a pool of workers.

use std::sync::Arc;

use lab_family::{
    Address, Answer, Cell, Checked, InputError, Levels, Needs, Places, Planned, Section, Truth,
    Work, draw,
};
use lab_protocol::ledgers::{Contention, Data, Kinds, Spawn, Workers, Workload};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::ledgers::{HARNESS_TAG, check};

/// What one transaction costs beside its busy work, roughly: for forecasts and for the number of
/// repetitions, never for a result.
const TRANSACTION_NS: u64 = 100;
/// Threads and set-up of a run, for forecasts.
const RUN_MS: u64 = 15;
/// A forecast may be wrong tenfold where a lock is hot; a run that hangs is ended all the same.
const DEADLINE_FACTOR: u64 = 20;

/// `[ledgers]` of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LedgersSection {
    /// The level of every factor that a group of cells does not name. Every variant must be able to
    /// do this cell, for each is checked on it first.
    pub defaults: Cell,
    /// Repetitions are as many as fit into this time, by forecast.
    pub run_budget_ms: u64,
    /// At least so many.
    pub repetitions_min: u32,
    /// At most so many.
    pub repetitions_max: u32,
    /// Repetitions before those that count.
    pub warmup_repetitions: u32,
    /// Transactions and busy work are divided by this; for smoke tests of experiments that were
    /// written for a larger machine. At least one transaction stays.
    #[serde(default = "one")]
    pub divide_by: u64,
}

fn one() -> u64 {
    1
}

impl LedgersSection {
    fn workload(&self, file: &str, cell: &Cell, seed: u64) -> Result<Workload, InputError> {
        let levels = Levels { file, section: "ledgers", cell };
        let transactions: u64 = levels.number("transactions")?;
        let data = Data {
            seed,
            streams: levels.number("streams")?,
            transactions: (transactions / self.divide_by).max(1) as u32,
            contention: levels.one_of("contention", &CONTENTION)?,
            kinds: levels.one_of("kinds", &KINDS)?,
        };
        if data.streams == 0 || u64::from(data.streams) * transactions > 100_000_000 {
            let allowed = "at least 1, and streams x transactions up to 10^8";
            return Err(levels.refuse("streams", allowed));
        }
        let mut workload = Workload {
            data,
            work_ns: levels.number::<u64>("work_ns")? / self.divide_by,
            workers: match levels.text("workers")? {
                "current_thread" => Workers::CurrentThread,
                "default" => Workers::Default,
                _ => Workers::Count(levels.number("workers")?),
            },
            pinned: levels.one_of("pinned", &[("off", false), ("on", true)])?,
            spawn: levels.one_of("spawn", &SPAWN)?,
            shards: levels.number_or("shards", "library")?,
            watch_locks: levels.one_of("locks", &[("plain", false), ("watched", true)])?,
            warmup_repetitions: self.warmup_repetitions,
            repetitions: 1,
        };
        if matches!(workload.workers, Workers::Count(0 | 1_025..)) {
            let allowed = "1 to 1,024, `current_thread` or `default`";
            return Err(levels.refuse("workers", allowed));
        }
        if workload.shards.is_some_and(|shards| !shards.is_power_of_two() || shards < 2) {
            return Err(levels.refuse("shards", "`library`, or a power of two from 2"));
        }
        let fit = self.run_budget_ms * 1_000_000 / once_ns(&workload).max(1);
        let fit = u32::try_from(fit).unwrap_or(u32::MAX);
        workload.repetitions = fit.clamp(self.repetitions_min, self.repetitions_max);
        Ok(workload)
    }
}

impl Section for LedgersSection {
    fn defaults(&self) -> Cell {
        self.defaults.clone()
    }

    fn check(&self, file: &str) -> Result<(), InputError> {
        let error = |key: &str, message: &str| {
            Err(InputError::value(file, &format!("ledgers.{key}"), message))
        };
        if self.repetitions_min == 0 || self.repetitions_min > self.repetitions_max {
            return error("repetitions_min", "must lie between 1 and repetitions_max");
        }
        if self.divide_by == 0 {
            return error("divide_by", "must be at least 1");
        }
        self.workload(file, &self.defaults, 0).map(drop)
    }

    fn needs(&self, _cells: &[Cell]) -> Needs {
        Needs { floor_answers: true, ..Needs::default() }
    }

    fn plan(&self, file: &str, at: &Address<'_>) -> Result<Planned, InputError> {
        // The same block has the same transactions for every variant and worker count.
        let seed = draw::seed(at.seed, &["transactions", &at.block.to_string()]);
        let workload = self.workload(file, at.cell, seed)?;
        let repetitions = u64::from(workload.warmup_repetitions + workload.repetitions);
        let expected_ms = RUN_MS + repetitions * once_ns(&workload) / 1_000_000;
        let deadline_ms = 10_000 + DEADLINE_FACTOR * expected_ms;
        Ok(Planned { work: Arc::new(LedgersWork(workload)), expected_ms, deadline_ms })
    }
}

/// The transactions of one run.
#[derive(Debug)]
struct LedgersWork(Workload);

impl Work for LedgersWork {
    fn workload(&self, _at: &Places) -> serde_json::Value {
        json!(self.0)
    }

    fn floor_workload(&self, _at: &Places, tags: &[String]) -> Option<serde_json::Value> {
        let is_harness = tags.iter().any(|tag| tag == HARNESS_TAG);
        (!is_harness).then(|| json!(floor_workload(&self.0)))
    }

    fn declared_ns(&self, tags: &[String]) -> Option<u64> {
        let Data { streams, transactions, .. } = self.0.data;
        let transactions = u64::from(streams) * u64::from(transactions);
        let is_harness = tags.iter().any(|tag| tag == HARNESS_TAG);
        (!is_harness && self.0.work_ns > 0).then(|| transactions.saturating_mul(self.0.work_ns))
    }

    fn check(&self, answer: &Answer<'_>, truth: &Truth<'_>) -> Result<Checked, String> {
        check::times(&self.0, answer.outcome, answer.process_ns)?;
        match truth {
            Truth::Floor(floor) => {
                check::answers(&self.0, answer.outcome, floor).map(|()| Checked::right())
            }
            // A harness has no answer, and its times are plausible.
            _ => Ok(Checked::plausible()),
        }
    }
}

const CONTENTION: [(&str, Contention); 3] =
    [("disjoint", Contention::Disjoint), ("hot", Contention::Hot), ("zipf", Contention::Zipf)];
const KINDS: [(&str, Kinds); 3] =
    [("deposits", Kinds::Deposits), ("mixed", Kinds::Mixed), ("storage", Kinds::Storage)];
const SPAWN: [(&str, Spawn); 2] = [("stream", Spawn::Stream), ("batch", Spawn::Batch)];

/// What the floor variant does to know the answer: what decides it, done once, without busy work,
/// by one thread.
fn floor_workload(workload: &Workload) -> Workload {
    Workload {
        data: workload.data.clone(),
        work_ns: 0,
        workers: Workers::Count(1),
        pinned: false,
        spawn: Spawn::Stream,
        shards: None,
        watch_locks: false,
        warmup_repetitions: 0,
        repetitions: 1,
    }
}

/// One repetition on one thread.
fn once_ns(workload: &Workload) -> u64 {
    let transactions = u64::from(workload.data.streams) * u64::from(workload.data.transactions);
    transactions * (TRANSACTION_NS + workload.work_ns)
}
