//! What a run costs its process: CPU time, context switches, memory, threads.

use lab_protocol::runtimes::names;

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use lab_variant::{cpu_ns, high_water_bytes, kernel_number, now_ns, usage};

use crate::AgentLog;
use crate::queue::Queue;

/// How often, and after how long each time, tasks are counted until none is left: they are told of
/// a drop by waking up.
const COUNTS: usize = 100;
const BETWEEN_COUNTS: Duration = Duration::from_millis(1);

/// Readings of one process, shared by all its agents.
#[derive(Debug)]
pub struct Meter {
    process_start_ns: i64,
    cpu_at_first_agent_ns: OnceLock<i64>,
    cpu_at_first_token_ns: OnceLock<i64>,
    last: Mutex<LastToken>,
    queue: Queue,
    io_uring: OnceLock<bool>,
    leaked_tasks: OnceLock<u64>,
}

#[derive(Debug, Default)]
struct LastToken {
    cpu_ns: i64,
    threads: i64,
}

impl Meter {
    /// Call it first thing in `main`.
    pub fn start() -> Self {
        Self {
            process_start_ns: now_ns(),
            cpu_at_first_agent_ns: OnceLock::new(),
            cpu_at_first_token_ns: OnceLock::new(),
            last: Mutex::default(),
            queue: Queue::default(),
            io_uring: OnceLock::new(),
            leaked_tasks: OnceLock::new(),
        }
    }

    /// A runtime that reads through `io_uring` where the kernel permits it says whether it does.
    pub fn io_uring(&self, is_used: bool) {
        self.io_uring.get_or_init(|| is_used);
    }

    /// A runtime that knows how many tasks wait in its queue says here how it is asked. It is asked
    /// whenever bytes come.
    pub fn watch_queue(&self, depth: impl Fn() -> usize + Send + Sync + 'static) {
        self.queue.watch(depth);
    }

    /// A runtime whose threads go on by themselves says here how its tasks are counted, when its
    /// agents are done and what they shared is gone. It is asked only where one dropped a reply.
    pub fn count_tasks_left(&self, logs: &[AgentLog], alive: impl Fn() -> usize) {
        let mut calls = logs.iter().flat_map(|log| &log.calls);
        if calls.any(|call| call.dropped_ns >= 0) {
            for _ in 0..COUNTS {
                if alive() == 0 {
                    break;
                }
                sleep(BETWEEN_COUNTS);
            }
            self.leaked_tasks.get_or_init(|| alive() as u64);
        }
    }

    /// Bytes came.
    pub(crate) fn sample_queue(&self) {
        self.queue.sample();
    }

    /// An agent starts.
    pub(crate) fn agent(&self) {
        self.cpu_at_first_agent_ns.get_or_init(cpu_ns);
    }

    /// A token arrives: one atomic load, except for the first of the process.
    pub(crate) fn token(&self) {
        self.cpu_at_first_token_ns.get_or_init(cpu_ns);
    }

    /// The `done` line of an agent's last call was parsed. Nobody knows that a token was the last
    /// one before this line says so, and servers send it right behind; the last agent's stays.
    pub(crate) fn last_token(&self) {
        let cpu_ns = cpu_ns();
        // Counting threads costs CPU time, so it comes after the reading.
        let last = LastToken { cpu_ns, threads: threads() };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }

    /// The counters of the whole run, read now.
    pub(crate) fn counters(&self) -> BTreeMap<String, u64> {
        let usage = usage();
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |reading: &OnceLock<i64>| reading.get().copied().unwrap_or(0);
        let streaming = match self.cpu_at_first_token_ns.get() {
            Some(first) => last.cpu_ns - first,
            None => 0,
        };
        let own = [
            (names::PROCESS_START_NS, self.process_start_ns),
            (names::CPU_STARTUP_NS, at(&self.cpu_at_first_agent_ns)),
            (names::CPU_STREAMING_NS, streaming),
            (names::CPU_TOTAL_NS, cpu_ns()),
            (names::VOLUNTARY_SWITCHES, usage.voluntary_context_switches()),
            (names::INVOLUNTARY_SWITCHES, usage.involuntary_context_switches()),
            (names::RSS_HIGH_WATER_BYTES, high_water_bytes().cast_signed()),
            (names::THREADS, last.threads),
        ];
        let own = own.map(|(name, value)| (name, u64::try_from(value).unwrap_or(0)));
        let io_uring = self.io_uring.get().map(|&is_used| (names::IO_URING, u64::from(is_used)));
        let leaked_tasks = self.leaked_tasks.get().map(|&tasks| (names::LEAKED_TASKS, tasks));
        let told = self.queue.counters().into_iter().chain(io_uring).chain(leaked_tasks);
        let all = own.into_iter().chain(told);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn threads() -> i64 {
    kernel_number("/proc/self/status", "Threads:").cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallLog;

    #[test]
    fn the_first_token_is_read_once_and_the_last_one_again() {
        let meter = Meter::start();
        meter.agent();
        meter.token();
        let first = *meter.cpu_at_first_token_ns.get().unwrap();
        meter.token();
        meter.last_token();
        let counters = meter.counters();
        assert_eq!(*meter.cpu_at_first_token_ns.get().unwrap(), first);
        assert!(counters["cpu_total_ns"] >= counters["cpu_startup_ns"]);
        assert!(counters["threads"] >= 1);
        assert!(counters["rss_high_water_bytes"] > 100_000);
    }

    #[test]
    fn tasks_are_left_that_do_not_end_in_time_after_a_drop() {
        let calls = |dropped_ns| vec![CallLog { dropped_ns, ..CallLog::new(1) }];
        let of = |dropped_ns| [AgentLog { calls: calls(dropped_ns), ..AgentLog::default() }];
        let left = |dropped_ns, alive: &dyn Fn() -> usize| {
            let meter = Meter::start();
            meter.count_tasks_left(&of(dropped_ns), alive);
            meter.counters().get("leaked_tasks").copied()
        };
        assert_eq!(left(-1, &|| 2), None);
        assert_eq!(left(5, &|| 2), Some(2));
        let alive = std::cell::Cell::new(3_usize);
        let ends = || alive.replace(alive.get().saturating_sub(1));
        assert_eq!(left(5, &ends), Some(0));
    }
}
