//! The workload of the `workflows` family: tasks, each a directed acyclic graph of steps, through a
//! back end that keeps their state.
//!
//! A step's value is a number, so that every result can be checked: see [`Operation`]. All
//! arithmetic is modulo [`MODULUS`], so that no shape overflows.
//!
//! # Columns of a run's samples
//! Every time is `CLOCK_MONOTONIC` in nanoseconds.
//! * A row per task that counts, in order of submission: `task` (its number, from 0),
//!   `task_submitted_ns` (before the client hands it in), `task_accepted_ns` (the back end has
//!   taken it over and would not lose it any more), `task_completed_ns` (the back end has recorded
//!   its last step), `task_observed_ns` (the client knows).
//! * A row per step that was created, by task and then by step: `step_task`, `step` (the index in
//!   [`Shape::steps`]), `step_part` (0, or which of the steps that a fan-out made),
//!   `step_created_ns` (it exists in the task's state), `step_enqueued_ns` (everything it waits for
//!   is recorded, and it may be claimed), `step_claimed_ns` (a worker has it and nobody else),
//!   `step_started_ns` and `step_finished_ns` (around the operation itself), `step_recorded_ns`
//!   (its result would not be lost any more), `step_value`, `step_claims` (how often it was
//!   claimed). A step that a decision left out is not created.
//!
//! # Counters of a run
//! `statements`, `commits`, `messages`, `syncs` (over the tasks that count, all processes of the
//! back end; absent where it has none), `bare_commit_ns` or `bare_sync_ns` (the median of the least
//! that makes one row durable on the same database, or as many records as tasks are in flight on
//! the same file, measured in the same run beside the tasks), `ffi_call_ns` (median of an empty
//! call through the boundary of an `_ffi` worker), `all_processes` (that do the run's work, with
//! those that it started), `all_pss_bytes` (the memory that they hold together, what several of
//! them share once), `rss_high_water_bytes` (of the variant's own process), `cpu_total_ns`.

use serde::{Deserialize, Serialize};

/// Values of steps are numbers below this prime, 2^61 - 1: products fit 128 bits.
pub const MODULUS: u64 = (1 << 61) - 1;

/// Tasks of one shape, and how they are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Of the tasks' inputs: task i starts from [`input`] of it.
    pub seed: u64,
    /// What every task is.
    pub shape: Shape,
    /// Tasks before those that count.
    pub warmup_tasks: u32,
    /// Tasks that count.
    pub tasks: u32,
    /// Tasks in flight: the client hands in the next when one is observed.
    pub in_flight: u32,
    /// Time between two looks of the client for completion; 0 where it is told.
    pub poll_ms: u32,
    /// Worker threads or processes.
    pub workers: u32,
    /// How many processes keep the tasks: 0 where the back end is one, which is also the client's;
    /// otherwise two of them, or one of two, are orchestrators, to which the client hands tasks in
    /// turn, and the others have the workers; where a broker hands out steps, all have workers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub processes: u32,
    /// How the client talks to several processes.
    #[serde(default, skip_serializing_if = "is_pipe")]
    pub wire: Wire,
    /// Time after which whoever is to be told of work or of an end looks by itself; 0 leaves it to
    /// the back end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fallback_ms: u32,
    /// What a worker does before each step, which nothing needs.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub beside: Beside,
    /// Who computes the operations.
    pub worker: Worker,
    /// The folder of the program `workflows-worker` and of its library `libworkflows_worker.so`,
    /// for a worker outside the back end; filled in by whoever knows where they were built.
    #[serde(default)]
    pub worker_folder: String,
    /// An empty folder of the run's own, on the disk that is to be measured; filled in by whoever
    /// made it.
    pub folder: String,
}

/// Not written where it says nothing, so that back ends that are one process need not know it.
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_pipe(wire: &Wire) -> bool {
    *wire == Wire::Pipe
}

/// How the client and the processes of a back end talk to each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// By their standard streams.
    #[default]
    Pipe,
    /// Each process listens at a port of this machine.
    Http,
}

fn is_nothing(beside: &Beside) -> bool {
    *beside == Beside::Nothing
}

/// Both sides of each optimisation that the published report names (TAS-162, 134, 163, 164), made
/// again as work beside a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// Nothing.
    #[default]
    Nothing,
    /// 32 lines of a log at a level that is written.
    LoudLog,
    /// The same lines at a level that is not.
    QuietLog,
    /// Eight counts behind one lock.
    LockedCounts,
    /// Eight atomic counts.
    AtomicCounts,
    /// The step's state in a map behind one asynchronous lock: put, read and taken.
    LockedMap,
    /// The same in a map of shards.
    ShardedMap,
    /// A circuit breaker that is asked by blocking on a future.
    BlockingBreaker,
    /// One that is asked at once.
    DirectBreaker,
    /// Statistics of a pool of connections, for one that is taken and given back.
    PoolStatistics,
}

/// Who computes a step's operation.
///
/// All but `native` are processes of their own beside the back end, one for each of its workers,
/// and each step goes there and back through a pipe in the same form. `native_process` is that way
/// with everything in Rust. A language's `_ffi` level differs from it in that the same worker in
/// Rust, which holds the pipe, is a library that a program of the language calls through a C
/// interface; the program computes. That difference is the overhead of the foreign-function
/// boundary. In its `_process` level the program holds the pipe itself; its difference from
/// `native_process` is what a worker entirely of the language costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worker {
    /// The back end's own worker thread.
    Native,
    /// A process in Rust.
    NativeProcess,
    /// A process in Python, which calls the worker in Rust by ctypes.
    PythonFfi,
    /// A process in Python.
    PythonProcess,
    /// A process in Ruby, which calls the worker in Rust by Fiddle.
    RubyFfi,
    /// A process in Ruby.
    RubyProcess,
    /// A process in Node.js, which calls the worker in Rust by koffi.
    NodeFfi,
    /// A process in Node.js.
    NodeProcess,
    /// A process in TypeScript on Node.js, which calls the worker in Rust by koffi.
    TypescriptFfi,
    /// A process in TypeScript on Node.js.
    TypescriptProcess,
    /// By turns a process in Rust, one in Ruby and one in Python, which call the worker in Rust,
    /// and one in Node.js.
    FourLanguages,
}

/// A directed acyclic graph of steps. A step only waits for steps before it in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Its name, for messages.
    pub name: String,
    /// The steps; the last one's value is the task's result.
    pub steps: Vec<Step>,
}

/// One step of a shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name, for messages and pictures.
    pub name: String,
    /// Steps whose values it takes, by index. A step without any takes the task's input. Steps that
    /// a decision left out count as done and give no value.
    pub after: Vec<u32>,
    /// What it computes.
    pub operation: Operation,
    /// Where present, the step exists only if the value of this step, which it also waits for, is
    /// at least `low` and below `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// Where present, as many steps are made of this one as the value of this step says, once it
    /// is known; part p of them computes the operation of the same inputs and p.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_of: Option<u32>,
}

/// A decision that was taken by another step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The step that decides, by index.
    pub step: u32,
    /// Its least value for which this step exists.
    pub low: u64,
    /// Its least value above that for which it does not.
    pub high: u64,
}

/// What a step computes from the values it takes, in order; all modulo [`MODULUS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The only, or the first, value.
    Pass,
    /// The square of the product of all values.
    Square,
    /// The sum of all values.
    Sum,
    /// This number, whatever it takes.
    Constant(u64),
    /// Of part p: the sum of [`row`] of the first value over the rows p*n to p*n + n - 1.
    SumRows(u64),
}

/// The input of a task: a number from 2 to 1,001.
pub fn input(seed: u64, task: u32) -> u64 {
    2 + mix(seed, u64::from(task)) % 1_000
}

/// The amount in a row of the table that a batch reads.
pub fn row(input: u64, row: u64) -> u64 {
    mix(input, row) % 10_000
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
/// generators", figure 15) over both.
fn mix(seed: u64, index: u64) -> u64 {
    let mut state = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

impl Operation {
    /// Its value of what it takes; `part` is 0 but for a step of a fan-out.
    pub fn compute(self, values: &[u64], part: u64) -> u64 {
        let first = values.first().copied().unwrap_or(0);
        match self {
            Self::Pass => first,
            Self::Square => {
                let product = values.iter().fold(1, |product, &value| multiply(product, value));
                multiply(product, product)
            }
            Self::Sum => values.iter().fold(0, |sum, value| (sum + value % MODULUS) % MODULUS),
            Self::Constant(value) => value,
            Self::SumRows(rows) => {
                (part * rows..(part + 1) * rows).map(|index| row(first, index)).sum::<u64>()
                    % MODULUS
            }
        }
    }
}

fn multiply(one: u64, other: u64) -> u64 {
    (u128::from(one) * u128::from(other) % u128::from(MODULUS)) as u64
}

/// Names of columns and counters, as variants write them and the lab reads them.
pub mod names {
    crate::names! {
        ALL_PROCESSES = "all_processes",
        ALL_PSS_BYTES = "all_pss_bytes",
        BARE_COMMIT_NS = "bare_commit_ns",
        BARE_SYNC_NS = "bare_sync_ns",
        COMMITS = "commits",
        CPU_TOTAL_NS = "cpu_total_ns",
        FFI_CALL_NS = "ffi_call_ns",
        MESSAGES = "messages",
        RSS_HIGH_WATER_BYTES = "rss_high_water_bytes",
        STATEMENTS = "statements",
        STEP = "step",
        STEP_CLAIMED_NS = "step_claimed_ns",
        STEP_CLAIMS = "step_claims",
        STEP_CREATED_NS = "step_created_ns",
        STEP_ENQUEUED_NS = "step_enqueued_ns",
        STEP_FINISHED_NS = "step_finished_ns",
        STEP_PART = "step_part",
        STEP_RECORDED_NS = "step_recorded_ns",
        STEP_STARTED_NS = "step_started_ns",
        STEP_TASK = "step_task",
        STEP_VALUE = "step_value",
        SYNCS = "syncs",
        TASK = "task",
        TASK_ACCEPTED_NS = "task_accepted_ns",
        TASK_COMPLETED_NS = "task_completed_ns",
        TASK_OBSERVED_NS = "task_observed_ns",
        TASK_SUBMITTED_NS = "task_submitted_ns",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_of_the_product_and_never_overflows() {
        assert_eq!(Operation::Square.compute(&[6], 0), 36);
        assert_eq!(Operation::Square.compute(&[2, 3], 0), 36);
        let large = MODULUS - 1;
        assert_eq!(Operation::Square.compute(&[large, large], 0), 1);
    }

    #[test]
    fn parts_of_a_batch_add_up_to_the_whole() {
        let whole = Operation::SumRows(1_000).compute(&[7], 0);
        let parts: Vec<u64> =
            (0..5).map(|part| Operation::SumRows(200).compute(&[7], part)).collect();
        assert_eq!(Operation::Sum.compute(&parts, 0), whole);
    }

    #[test]
    fn inputs_are_small_numbers_that_differ() {
        let inputs: std::collections::BTreeSet<u64> = (0..50).map(|task| input(3, task)).collect();
        assert!(inputs.iter().all(|value| (2..=1_001).contains(value)) && inputs.len() > 40);
    }
}
