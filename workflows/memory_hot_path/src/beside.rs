//! Both sides of each optimisation, as one closure that all workers call.

use std::collections::HashMap;
use std::fs::File;
use std::hint::black_box;
use std::io::{LineWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use dashmap::DashMap;
use tokio::runtime::Builder;
use workflows_kit::{BeforeStep, Beside, RunError, StepId, now_ns};

/// Lines of a step that were demoted from `info` to `debug`.
const LINES: u32 = 32;
/// Counts that a step moves.
const COUNTS: usize = 8;
/// Levels of a log: what is above the one that is set is not written.
const INFO: u8 = 3;
const DEBUG: u8 = 4;
/// In the run's folder.
const LOG: &str = "worker.log";

/// What is done before each step.
///
/// # Errors
/// The log or the runtime cannot be had.
pub(crate) fn of(beside: Beside, folder: &Path) -> Result<BeforeStep, RunError> {
    Ok(match beside {
        Beside::Nothing => nothing(),
        Beside::LoudLog => log(INFO, folder)?,
        Beside::QuietLog => log(DEBUG, folder)?,
        Beside::LockedCounts => locked_counts(),
        Beside::AtomicCounts => atomic_counts(),
        Beside::LockedMap => locked_map(),
        Beside::ShardedMap => sharded_map(),
        Beside::BlockingBreaker => blocking_breaker()?,
        Beside::DirectBreaker => direct_breaker(),
        Beside::PoolStatistics => pool_statistics(),
    })
}

fn nothing() -> BeforeStep {
    Arc::new(|_: u32, _: StepId| ())
}

/// Each line is written by itself under a lock, as a subscriber does that writes to a terminal.
fn log(level: u8, folder: &Path) -> Result<BeforeStep, RunError> {
    let file = File::create(folder.join(LOG)).map_err(RunError::setup)?;
    let (set, file) = (AtomicU8::new(INFO), Mutex::new(LineWriter::new(file)));
    Ok(Arc::new(move |task: u32, StepId { step, part }: StepId| {
        for line in 0..LINES {
            if level > set.load(Relaxed) {
                continue;
            }
            let mut file = file.lock().expect("nobody panics while it holds the log");
            // A disk that is full is no reason to lose a step.
            let at = now_ns();
            let _ = writeln!(file, "{at} INFO step task={task} step={step}.{part} line={line}");
        }
    }))
}

fn locked_counts() -> BeforeStep {
    let counts = Mutex::new([0_u64; COUNTS]);
    Arc::new(move |_: u32, _: StepId| {
        for place in 0..COUNTS {
            counts.lock().expect("nobody panics while it holds the counts")[place] += 1;
        }
    })
}

fn atomic_counts() -> BeforeStep {
    let counts: [AtomicU64; COUNTS] = Default::default();
    Arc::new(move |_: u32, _: StepId| {
        for count in &counts {
            count.fetch_add(1, Relaxed);
        }
    })
}

/// What a worker knows of a step that is under way.
type Key = (u32, StepId);

fn locked_map() -> BeforeStep {
    let states = tokio::sync::Mutex::new(HashMap::<Key, i64>::new());
    Arc::new(move |task: u32, step: StepId| {
        states.blocking_lock().insert((task, step), now_ns());
        black_box(states.blocking_lock().get(&(task, step)).copied());
        states.blocking_lock().remove(&(task, step));
    })
}

fn sharded_map() -> BeforeStep {
    let states = DashMap::<Key, i64>::new();
    Arc::new(move |task: u32, step: StepId| {
        states.insert((task, step), now_ns());
        black_box(states.get(&(task, step)).map(|state| *state));
        states.remove(&(task, step));
    })
}

/// The state is behind an asynchronous lock, and a thread that is no task waits for it.
fn blocking_breaker() -> Result<BeforeStep, RunError> {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().map_err(RunError::setup)?;
    let open = tokio::sync::Mutex::new(false);
    Ok(Arc::new(move |_: u32, _: StepId| {
        black_box(runtime.block_on(async { !*open.lock().await }));
    }))
}

fn direct_breaker() -> BeforeStep {
    let open = AtomicBool::new(false);
    Arc::new(move |_: u32, _: StepId| {
        black_box(!open.load(Relaxed));
    })
}

/// Counts of connections that are taken and given back, of those in use and the most of them, and
/// the time that they were waited for.
fn pool_statistics() -> BeforeStep {
    let [taken, given_back, in_use, most, waited_ns]: [AtomicU64; 5] = Default::default();
    Arc::new(move |_: u32, _: StepId| {
        let from = now_ns();
        taken.fetch_add(1, Relaxed);
        most.fetch_max(in_use.fetch_add(1, Relaxed) + 1, Relaxed);
        waited_ns.fetch_add((now_ns() - from).unsigned_abs(), Relaxed);
        in_use.fetch_sub(1, Relaxed);
        given_back.fetch_add(1, Relaxed);
    })
}
