//! What becomes a task, and where workers stay.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab_protocol::ledgers::Spawn;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Tasks per worker where streams are dealt into batches.
const BATCHES: usize = 4;

/// The streams of each task, in order: every stream alone, or all of them dealt evenly.
pub fn jobs(spawn: Spawn, workers: usize, streams: usize) -> impl Iterator<Item = Range<usize>> {
    match spawn {
        Spawn::Stream => deal(streams, streams),
        Spawn::Batch => deal(streams, BATCHES * workers),
    }
}

/// Deals streams evenly into so many tasks, or fewer where there are fewer streams.
pub fn deal(streams: usize, tasks: usize) -> impl Iterator<Item = Range<usize>> {
    let count = streams.min(tasks);
    (0..count).map(move |job| job * streams / count..(job + 1) * streams / count)
}

/// Gives each worker the next CPU, round by round.
#[derive(Debug)]
pub struct Pins {
    cpus: Vec<usize>,
    next: AtomicUsize,
}

impl Pins {
    /// The CPUs that this process may use, or none where workers are not to be pinned.
    pub fn new(pinned: bool) -> Self {
        let allowed = if pinned { sched_getaffinity(Pid::from_raw(0)).ok() } else { None };
        let cpus = allowed.map_or(vec![], |set| {
            (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect()
        });
        Self { cpus, next: AtomicUsize::new(0) }
    }

    /// Call it once on each worker's thread: the i-th to call stays on CPU i modulo their number.
    /// Does nothing where workers are not pinned.
    ///
    /// # Panics
    /// When the kernel refuses a CPU that it named before.
    pub fn pin_this_thread(&self) {
        if self.cpus.is_empty() {
            return;
        }
        let worker = self.next.fetch_add(1, Ordering::Relaxed);
        let mut set = CpuSet::new();
        set.set(self.cpus[worker % self.cpus.len()]).expect("the kernel named this CPU");
        sched_setaffinity(Pid::from_raw(0), &set).expect("a thread may stay on an allowed CPU");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_is_in_one_task() {
        for (spawn, workers, streams, tasks) in [
            (Spawn::Stream, 2, 10, 10),
            (Spawn::Batch, 2, 10, 8),
            (Spawn::Batch, 2, 3, 3),
            (Spawn::Batch, 5, 1_000, 20),
        ] {
            let jobs: Vec<_> = jobs(spawn, workers, streams).collect();
            assert_eq!(jobs.len(), tasks);
            let all: Vec<usize> = jobs.iter().cloned().flatten().collect();
            assert_eq!(all, (0..streams).collect::<Vec<_>>());
            let lengths = jobs.iter().map(ExactSizeIterator::len);
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
        }
    }

    #[test]
    fn threads_that_are_not_to_be_pinned_stay_free() {
        assert!(Pins::new(false).cpus.is_empty());
        assert!(!Pins::new(true).cpus.is_empty());
    }
}
