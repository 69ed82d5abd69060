//! The workload of the `schedulers` family: one test of a policy that runs work inline or offloads
//! it.

use std::{collections::BTreeMap, sync::Arc};

use lab_family::{
    Address, Answer, Cell, Checked, InputError, Levels, Needs, Places, Planned, Section, Truth,
    Work, draw,
};
use lab_protocol::schedulers::{Decide, Load, Part, Replay, Stream, Test, Wake, Workload};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::schedulers::{
    PINNED, check,
    costs::{self, Costs, Recorded},
};

/// The section's name in messages.
const SECTION: &str = "schedulers";
/// The name that records give the table of recorded service times.
const TABLE: &str = "service_times";
/// Threads, calibration and set-up of a run, for forecasts.
const RUN_MS: u64 = 60;
/// One decision and one report of its cost, with a clock read beside: for forecasts.
const DECISION_NS: u64 = 300;
/// So many items of each class are many: that half of them are missing happens once in 30,000.
const ITEMS_MANY: u64 = 64;
/// A policy may choose badly all the time; one that hangs is ended all the same.
const DEADLINE_FACTOR: u64 = 20;

/// `[schedulers]` of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchedulersSection {
    /// The level of every factor that a group of cells does not name. Every variant must be able to
    /// do this cell, for each is checked on it first.
    pub defaults: Cell,
    /// Recorded service times for the costs `recorded`, relative to the experiment's folder.
    pub recorded: String,
    /// The rows of that file.
    #[serde(skip)]
    service_times: Recorded,
    /// Of `decide`.
    pub decide: DecideSection,
    /// Steps of `replay`.
    pub replay_steps: u32,
    /// Of `stream`.
    pub stream: StreamSection,
    /// Of `wake`.
    pub wake: WakeSection,
    /// Busy work of each class of a stream, by the level of `work`.
    pub work_ns: BTreeMap<String, Vec<u64>>,
    /// Loads by the level of `load`.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub load: BTreeMap<String, Load>,
    /// Batches, steps, repetitions and time are divided by this; for smoke tests.
    #[serde(default = "one")]
    pub divide_by: u64,
}

/// How decisions are timed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideSection {
    /// Calls of a batch, between one pair of clock reads.
    pub calls: u32,
    /// The same for first decisions, each of which needs a key of its own.
    pub cold_calls: u32,
    /// Batches that count.
    pub batches: u32,
    /// Batches before them.
    pub warmup_batches: u32,
    /// Keys that warm calls go through in turn.
    pub keys: u32,
    /// Calls that are timed one by one.
    #[serde(default = "single_calls")]
    pub single_calls: u32,
}

/// How streams are timed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSection {
    /// Repetitions are of as many items as have about so much busy work.
    pub work_ms: u64,
    /// At most so many items.
    pub items_max: u32,
    /// Repetitions before those that count.
    pub warmup_repetitions: u32,
    /// Repetitions that count.
    pub repetitions: u32,
}

/// How wake-ups are timed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WakeSection {
    /// How long a load lasts.
    pub duration_ms: u64,
    /// Time between two ticks.
    pub tick_us: u64,
}

fn one() -> u64 {
    1
}

/// Forty of them lie beyond the 99th percentile.
fn single_calls() -> u32 {
    4_000
}

impl SchedulersSection {
    /// The test; a replay's columns are still empty, and come from the costs beside it.
    fn test(&self, file: &str, cell: &Cell) -> Result<(Test, Option<Costs>), InputError> {
        let levels = Levels { file, section: SECTION, cell };
        let kinds = ["decide", "replay", "stream", "wake"].map(|kind| (kind, kind));
        let kind = levels.one_of("test", &kinds)?;
        // Every level is read, so that a slip of the pen is found in any cell.
        let decide = self.decide(&levels)?;
        let costs = levels.one_of("costs", &costs::NAMES)?;
        let stream = self.stream(&levels)?;
        let wake = self.wake(&levels)?;
        Ok(match kind {
            "decide" => (Test::Decide(decide), None),
            "replay" => (Test::Replay(Replay::default()), Some(costs)),
            "stream" => (Test::Stream(stream), None),
            _ => (Test::Wake(wake), None),
        })
    }

    fn decide(&self, levels: &Levels<'_>) -> Result<Decide, InputError> {
        let (part, is_single) = levels.one_of("part", &PARTS)?;
        let section = &self.decide;
        if is_single {
            // Of one key, and as many calls before those that count as a batch has.
            let warmup_batches = section.calls;
            let (batches, deciders) = (self.divided(section.single_calls), 1);
            return Ok(Decide { part, deciders, calls: 1, batches, warmup_batches, keys: 1 });
        }
        Ok(Decide {
            part,
            deciders: up_to_1024(levels, "deciders")?,
            calls: if part == Part::Cold { section.cold_calls } else { section.calls },
            batches: self.divided(section.batches),
            warmup_batches: section.warmup_batches,
            keys: section.keys,
        })
    }

    fn stream(&self, levels: &Levels<'_>) -> Result<Stream, InputError> {
        let class_work_ns = levels.named("work", &self.work_ns)?.clone();
        let mean_ns = (class_work_ns.iter().sum::<u64>() / class_work_ns.len() as u64).max(1);
        let fit = self.stream.work_ms * 1_000_000 / mean_ns;
        let items = u32::try_from(fit).unwrap_or(u32::MAX).clamp(10, self.stream.items_max);
        Ok(Stream {
            class_work_ns,
            items,
            concurrency: up_to_1024(levels, "concurrency")?,
            ordered: levels.one_of("order", &[("ordered", true), ("unordered", false)])?,
            warmup_repetitions: self.stream.warmup_repetitions,
            repetitions: self.divided(self.stream.repetitions),
        })
    }

    fn wake(&self, levels: &Levels<'_>) -> Result<Wake, InputError> {
        Ok(Wake {
            duration_ms: (self.wake.duration_ms / self.divide_by).max(100),
            tick_us: self.wake.tick_us,
            load: *levels.named("load", &self.load)?,
        })
    }

    fn divided(&self, count: u32) -> u32 {
        (u64::from(count) / self.divide_by).max(1) as u32
    }
}

impl Section for SchedulersSection {
    fn defaults(&self) -> Cell {
        self.defaults.clone()
    }

    fn check(&self, file: &str) -> Result<(), InputError> {
        let error = |key: &str, message: &str| {
            Err(InputError::value(file, &format!("{SECTION}.{key}"), message))
        };
        let positive = [
            ("decide.calls", u64::from(self.decide.calls)),
            ("decide.cold_calls", u64::from(self.decide.cold_calls)),
            ("decide.batches", u64::from(self.decide.batches)),
            ("decide.keys", u64::from(self.decide.keys)),
            ("decide.single_calls", u64::from(self.decide.single_calls)),
            ("replay_steps", u64::from(self.replay_steps)),
            ("stream.work_ms", self.stream.work_ms),
            ("stream.items_max", u64::from(self.stream.items_max)),
            ("stream.repetitions", u64::from(self.stream.repetitions)),
            ("wake.duration_ms", self.wake.duration_ms),
            ("wake.tick_us", self.wake.tick_us),
            ("divide_by", self.divide_by),
        ];
        if let Some((key, _)) = positive.into_iter().find(|(_, value)| *value == 0) {
            return error(key, "must be at least 1");
        }
        for (name, classes) in &self.work_ns {
            if classes.is_empty() || classes.iter().any(|&ns| !(1..=1_000_000_000).contains(&ns)) {
                let message = "needs the busy work of at least one class, 1 ns to 1 s each";
                return error(&format!("work_ns.{name}"), message);
            }
        }
        for (name, load) in &self.load {
            if let Load::Open { every_us: 0, .. }
            | Load::Bursts { every_us: 0, .. }
            | Load::Closed { in_flight: 0, .. } = load
            {
                let message = "needs an interval, or a number in flight, above 0";
                return error(&format!("load.{name}"), message);
            }
            if let Load::Bursts { low_ns, high_ns, jobs, .. } = load
                && (*jobs < 2 || *low_ns == 0 || high_ns < low_ns)
            {
                let message = "needs two jobs at least, from low_ns above 0 to high_ns";
                return error(&format!("load.{name}"), message);
            }
        }
        self.test(file, &self.defaults).map(drop)
    }

    fn attachment(&self) -> Option<(&'static str, &str)> {
        Some((TABLE, &self.recorded))
    }

    fn attach(&mut self, text: &str) -> Result<(), InputError> {
        self.service_times = Recorded::parse(&self.recorded, text)?;
        Ok(())
    }

    fn needs(&self, _cells: &[Cell]) -> Needs {
        Needs::default()
    }

    fn plan(&self, file: &str, at: &Address<'_>) -> Result<Planned, InputError> {
        let levels = Levels { file, section: SECTION, cell: at.cell };
        let (test, costs) = self.test(file, at.cell)?;
        // The same block has the same draws for every policy. The word is the family's former name:
        // another one would change every draw.
        let seed = draw::seed(at.seed, &["offload", &at.block.to_string()]);
        let mut workload = Workload {
            seed,
            tokio_workers: up_to_1024(&levels, "tokio_workers")?,
            rayon_threads: up_to_1024(&levels, "rayon_threads")?,
            pinned: match at.cell.contains_key(PINNED) {
                true => levels.one_of(PINNED, &[("off", false), ("on", true)])?,
                false => false,
            },
            test,
        };
        if let Some(costs) = costs {
            let steps = self.divided(self.replay_steps);
            workload.test = Test::Replay(costs.draw(seed, steps, &self.service_times));
        }
        let expected_ms = RUN_MS + busy_ms(&workload);
        let deadline_ms = 20_000 + DEADLINE_FACTOR * expected_ms;
        Ok(Planned { work: Arc::new(SchedulersWork(workload)), expected_ms, deadline_ms })
    }
}

/// The test of one run.
#[derive(Debug)]
struct SchedulersWork(Workload);

impl Work for SchedulersWork {
    fn workload(&self, _at: &Places) -> serde_json::Value {
        json!(self.0)
    }

    fn declared_ns(&self, _tags: &[String]) -> Option<u64> {
        let Test::Stream(stream) = &self.0.test else { return None };
        let classes = stream.class_work_ns.len() as u64;
        let items = u64::from(stream.items);
        // Which class an item has is drawn. Of many items no class has less than half of its share;
        // of few, all may be of the shortest.
        match items >= ITEMS_MANY * classes {
            true => Some(items * stream.class_work_ns.iter().sum::<u64>() / (2 * classes)),
            false => Some(items * stream.class_work_ns.iter().min()?),
        }
    }

    fn check(&self, answer: &Answer<'_>, _truth: &Truth<'_>) -> Result<Checked, String> {
        check::answer(&self.0, answer.outcome, answer.process_ns)
    }
}

/// Which calls, and whether each is timed by itself.
const PARTS: [(&str, (Part, bool)); 4] = [
    ("choose", (Part::Choose, false)),
    ("cycle", (Part::Cycle, false)),
    ("cold", (Part::Cold, false)),
    ("single", (Part::Choose, true)),
];

fn up_to_1024(levels: &Levels<'_>, factor: &str) -> Result<u32, InputError> {
    let count = levels.number(factor)?;
    if (1..=1_024).contains(&count) {
        return Ok(count);
    }
    Err(levels.refuse(factor, "1 to 1,024"))
}

/// How long the test keeps the machine busy.
fn busy_ms(workload: &Workload) -> u64 {
    let busy_ns = match &workload.test {
        Test::Decide(decide) => {
            let batches = u64::from(decide.batches + decide.warmup_batches);
            batches * u64::from(decide.calls) * u64::from(decide.deciders) * DECISION_NS
        }
        Test::Replay(replay) => replay.site.len() as u64 * DECISION_NS,
        Test::Stream(stream) => {
            let sum: u64 = stream.class_work_ns.iter().sum();
            let mean = sum / stream.class_work_ns.len() as u64 + 10_000;
            let repetitions = u64::from(stream.repetitions + stream.warmup_repetitions);
            repetitions * u64::from(stream.items) * mean
        }
        Test::Wake(wake) => (wake.duration_ms + 300) * 1_000_000,
    };
    busy_ns / 1_000_000
}
