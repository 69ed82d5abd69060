//! The workload of the `ledgers` family: many small transactions on a pool of workers.
//!
//! A run repeats the same work: per repetition the accounts, the records and the streams are made
//! (untimed, capacity reserved), all streams are processed (timed), and everything is dropped
//! (timed apart).
//!
//! # Columns of a run's samples, a row per repetition after the warm-up
//! * `elapsed_ns` (from before the first spawn or routing step until every stream is processed),
//!   `teardown_ns` (dropping accounts, records and streams)
//! * `cpu_ns` (process CPU time within `elapsed_ns`), `voluntary_switches`, `involuntary_switches`
//! * the answer, checked against the sequential oracle's: `answer_hash` (xxh64, seed 0, over the
//!   accounts in order of their clients, bit-cast to i64), `answer_accounts`, `answer_records`,
//!   and in units of 1/10,000: `answer_total`, `answer_held`, `answer_deposited`,
//!   `answer_withdrawn`, `answer_charged_back`. Always `total = deposited - withdrawn -
//!   charged_back`.
//! * where locks are watched: `lock_waits` (acquisitions that found the lock taken),
//!   `lock_wait_ns` (what they waited, over all workers)
//! * where the runtime tells: `tokio_parks`, `tokio_busy_ns` (over all workers); with
//!   `tokio_unstable` also `tokio_steals`, `tokio_polls`, `tokio_overflows`,
//!   `tokio_local_schedules`
//! * where the kernel lets us count: `perf_cycles`, `perf_instructions`, `perf_cache_misses`
//!
//! # Counters of a run
//! `workers` (as the runtime says), `shards` (where the store has them), `work_measured_ps`
//! (the median of the busy work's real duration on an idle thread, picoseconds),
//! `rss_high_water_bytes`, `cpu_total_ns`.

use serde::{Deserialize, Serialize};

/// Streams of transactions, and how they are to be processed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What to process. The answer depends on this alone.
    pub data: Data,
    /// Busy work per transaction, done before it is applied and outside every lock.
    pub work_ns: u64,
    /// Worker threads.
    pub workers: Workers,
    /// Whether worker i stays on CPU i modulo the number of CPUs.
    pub pinned: bool,
    /// What becomes a task.
    pub spawn: Spawn,
    /// Shards of a sharded store, a power of two; `None` leaves it to the library.
    pub shards: Option<u32>,
    /// Whether waiting for a lock is counted and timed.
    pub watch_locks: bool,
    /// Repetitions before those that count.
    pub warmup_repetitions: u32,
    /// Repetitions that count.
    pub repetitions: u32,
}

/// The transactions, drawn from a seed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Of every draw.
    pub seed: u64,
    /// Streams; within one, transactions are applied in order.
    pub streams: u32,
    /// Transactions of each stream.
    pub transactions: u32,
    /// Which accounts the streams touch.
    pub contention: Contention,
    /// Which kinds of transactions there are.
    pub kinds: Kinds,
}

/// Which accounts the streams touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contention {
    /// Every stream has a client of its own.
    Disjoint,
    /// All streams touch one client.
    Hot,
    /// Clients are drawn from 1,000 by Zipf's law with exponent 1.
    Zipf,
}

/// Which kinds of transactions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kinds {
    /// Deposits of 1 only, as in the published benchmark.
    Deposits,
    /// Deposits, withdrawals, and now and then a dispute that is resolved or charged back.
    Mixed,
    /// No transactions: in turn a record is put and an account is looked up.
    Storage,
}

/// How many worker threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workers {
    /// That many.
    Count(u32),
    /// A runtime without worker threads, on the thread that waits.
    CurrentThread,
    /// What the runtime chooses.
    Default,
}

/// What becomes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spawn {
    /// Each stream.
    Stream,
    /// Streams dealt evenly into four tasks per worker.
    Batch,
}

/// Names of columns and counters, as variants write them and the lab reads them.
pub mod names {
    crate::names! {
        ANSWER_ACCOUNTS = "answer_accounts",
        ANSWER_CHARGED_BACK = "answer_charged_back",
        ANSWER_DEPOSITED = "answer_deposited",
        ANSWER_HASH = "answer_hash",
        ANSWER_HELD = "answer_held",
        ANSWER_RECORDS = "answer_records",
        ANSWER_TOTAL = "answer_total",
        ANSWER_WITHDRAWN = "answer_withdrawn",
        CPU_NS = "cpu_ns",
        CPU_TOTAL_NS = "cpu_total_ns",
        ELAPSED_NS = "elapsed_ns",
        INVOLUNTARY_SWITCHES = "involuntary_switches",
        LOCK_WAIT_NS = "lock_wait_ns",
        LOCK_WAITS = "lock_waits",
        PERF_CACHE_MISSES = "perf_cache_misses",
        PERF_CYCLES = "perf_cycles",
        PERF_INSTRUCTIONS = "perf_instructions",
        RSS_HIGH_WATER_BYTES = "rss_high_water_bytes",
        SHARDS = "shards",
        TEARDOWN_NS = "teardown_ns",
        TOKIO_BUSY_NS = "tokio_busy_ns",
        VOLUNTARY_SWITCHES = "voluntary_switches",
        WORK_MEASURED_PS = "work_measured_ps",
        WORKERS = "workers",
    }
}
