//! The workload of the `schedulers` family: run a piece of work inline, on the asynchronous worker
//! that holds it, or offload it to a pool of threads.
//!
//! A run is one test of one policy. Which arm was taken is 0 for inline and 1 for offload.
//!
//! # Columns of a run's samples
//! * `decide`: a row per batch and decider, after the warm-up: `decider` (from 0), `calls` (in the
//!   batch), `batch_ns` (one pair of clock reads around all of them).
//! * `replay`: a row per step: `arm`, `cost_ns` (of the arm that was taken), `regret_ns` (what the
//!   other arm would have saved, 0 where it would not).
//! * `stream`: a row per repetition after the warm-up: `elapsed_ns`, `cpu_ns` (of the process),
//!   `inline_items`, `offload_items`, and `answer` ([`stream_answer`] of what came out). A row per
//!   item of the last repetition, in order of the items: `item_class`, `item_work_ns` (how long the
//!   busy work really took), `item_arm`.
//! * `wake`: a row per intended tick, in order: `tick_latency_ns` (from the instant the kernel was
//!   to expire the timer until the task on the asynchronous runtime had read it; ticks that were
//!   read together count from their own instants). A row per job, in order of their intended
//!   starts: `job_latency_ns` (from the intended start to the result), `job_work_ns` (the busy
//!   work's real duration), `job_arm`. A closed load has no intended start but the real one.
//!
//! # Counters of a run
//! `decisions_inline`, `decisions_offload`; where the policy has them `gr0_activations` to
//! `gr3_activations`, `strikes`; `offload_round_trip_ns` (median of empty round trips through the
//! pool, before the test), `work_measured_ns` (the median real duration of the calibrated work, of
//! the first class, on an idle thread); in `wake` also `ticks_intended`, `jobs_started`,
//! `block_longest_ns` (the longest that one piece of work kept an asynchronous worker),
//! `elapsed_ns`, and where the policy has an index of pressure what it was at the decisions, in
//! thousandths: `pressure_last_milli`, `pressure_mean_milli`, `pressure_most_milli`; everywhere
//! `rss_high_water_bytes` and `cpu_total_ns`.

use serde::{Deserialize, Serialize};

/// One test of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Of every draw: the policy's own and the order of classes.
    pub seed: u64,
    /// Worker threads of the asynchronous runtime.
    pub tokio_workers: u32,
    /// Threads of the pool that work is offloaded to.
    pub rayon_threads: u32,
    /// Whether each thread of both kinds stays on a CPU that no other of them has.
    #[serde(default, skip_serializing_if = "is_off")]
    pub pinned: bool,
    /// What is done.
    pub test: Test,
}

/// Not written where it says nothing.
fn is_off(pinned: &bool) -> bool {
    !pinned
}

/// What a run does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// What a decision costs.
    Decide(Decide),
    /// Decisions on given costs: nothing is executed, so all policies see the same sequence.
    Replay(Replay),
    /// Items of real work through a stream.
    Stream(Stream),
    /// How long a task that shares the runtime with the work waits to be woken.
    Wake(Wake),
}

/// Batches of calls, timed as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// Which calls.
    pub part: Part,
    /// Threads that decide at once, all with the same keys and context.
    pub deciders: u32,
    /// Calls of a batch.
    pub calls: u32,
    /// Batches of each decider that count.
    pub batches: u32,
    /// Batches of each decider before them.
    pub warmup_batches: u32,
    /// Keys that the calls go through in turn.
    pub keys: u32,
}

/// Which calls of a policy are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The decision, on keys that the policy has learned.
    Choose,
    /// The decision and the report of its cost.
    Cycle,
    /// The first decision on a key: every call of a batch is for a new key, every batch for a new
    /// policy.
    Cold,
}

/// Costs by step, columns of equal length. The policy is told the cost of the arm that it took, and
/// is to keep their sum small.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The call site.
    pub site: Vec<u32>,
    /// The size of the input, as a policy may see it before it decides; 0 where it is not known.
    pub size: Vec<u64>,
    /// What running it inline costs.
    pub inline_ns: Vec<u64>,
    /// What offloading it costs.
    pub offload_ns: Vec<u64>,
}

/// Items of busy work through a stream with a bounded number in flight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Busy work of each class; an item's class is drawn from the seed. Each class is a call site.
    pub class_work_ns: Vec<u64>,
    /// Items of a repetition.
    pub items: u32,
    /// Items in flight.
    pub concurrency: u32,
    /// Whether results leave in the order of the items.
    pub ordered: bool,
    /// Repetitions before those that count.
    pub warmup_repetitions: u32,
    /// Repetitions that count.
    pub repetitions: u32,
}

/// A timer's ticks beside a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wake {
    /// How long the load and the ticks that count last.
    pub duration_ms: u64,
    /// Time between two ticks.
    pub tick_us: u64,
    /// What else the runtime does.
    pub load: Load,
}

/// Jobs of busy work, each through the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// None.
    Idle,
    /// A job at fixed intervals, whether or not the last is done.
    Open {
        /// Busy work of a job.
        work_ns: u64,
        /// From one intended start to the next.
        every_us: u64,
    },
    /// Jobs at once at fixed intervals, whether or not the last are done.
    Bursts {
        /// Busy work of the shortest job of a burst.
        low_ns: u64,
        /// Of the longest; those between are as far apart as each other.
        high_ns: u64,
        /// Jobs of a burst, at least two.
        jobs: u32,
        /// From one burst's intended start to the next.
        every_us: u64,
    },
    /// Tasks that each start a job as soon as their last is done.
    Closed {
        /// Busy work of a job.
        work_ns: u64,
        /// Tasks.
        in_flight: u32,
    },
}

/// What a stream's results, as item numbers in the order they are to be reported, come to: every
/// item once and in order gives the same number whatever the policy. Results of an unordered
/// stream are sorted first.
pub fn stream_answer(items: impl IntoIterator<Item = u32>) -> i64 {
    items.into_iter().fold(7, |answer: i64, item| {
        answer.wrapping_mul(31).wrapping_add(i64::from(item)).wrapping_add(1)
    })
}

/// Names of columns and counters, as variants write them and the lab reads them.
pub mod names {
    crate::names! {
        ANSWER = "answer",
        ARM = "arm",
        BATCH_NS = "batch_ns",
        BLOCK_LONGEST_NS = "block_longest_ns",
        CALLS = "calls",
        COST_NS = "cost_ns",
        CPU_NS = "cpu_ns",
        CPU_TOTAL_NS = "cpu_total_ns",
        DECIDER = "decider",
        DECISIONS_INLINE = "decisions_inline",
        DECISIONS_OFFLOAD = "decisions_offload",
        ELAPSED_NS = "elapsed_ns",
        INLINE_ITEMS = "inline_items",
        ITEM_ARM = "item_arm",
        ITEM_CLASS = "item_class",
        ITEM_WORK_NS = "item_work_ns",
        JOB_ARM = "job_arm",
        JOB_LATENCY_NS = "job_latency_ns",
        JOB_WORK_NS = "job_work_ns",
        JOBS_STARTED = "jobs_started",
        OFFLOAD_ITEMS = "offload_items",
        OFFLOAD_ROUND_TRIP_NS = "offload_round_trip_ns",
        PRESSURE_LAST_MILLI = "pressure_last_milli",
        PRESSURE_MEAN_MILLI = "pressure_mean_milli",
        PRESSURE_MOST_MILLI = "pressure_most_milli",
        REGRET_NS = "regret_ns",
        RSS_HIGH_WATER_BYTES = "rss_high_water_bytes",
        TICK_LATENCY_NS = "tick_latency_ns",
        TICKS_INTENDED = "ticks_intended",
        WORK_MEASURED_NS = "work_measured_ns",
    }
}
