//! The jobs that are left: a file of unknown size may turn out to be several.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Job;

#[derive(Debug)]
pub(crate) struct Queue {
    left: Mutex<Left>,
    changed: Condvar,
}

/// A job's place among all: its file, and where its chunk begins.
pub(crate) type Key = (u32, u64);

#[derive(Debug)]
struct Left {
    /// In their order.
    jobs: VecDeque<Job>,
    /// Those that somebody has, where that is asked for.
    taken: Option<BTreeSet<Key>>,
    /// Jobs that somebody has and that more may come of.
    unsure: usize,
}

/// A job that somebody has; it is done when this is dropped, and its file's map is given up with
/// the last one.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    queue: &'a Queue,
    pub(crate) job: Job,
    /// Jobs that came of it.
    pub(crate) more: Vec<Job>,
}

impl Queue {
    /// `is_in_order` where somebody asks for the [first](Self::first) one.
    pub(crate) fn new(jobs: Vec<Job>, is_in_order: bool) -> Self {
        let taken = is_in_order.then(BTreeSet::new);
        let left = Left { jobs: jobs.into(), taken, unsure: 0 };
        Self { left: Mutex::new(left), changed: Condvar::new() }
    }

    /// How many threads have something to do.
    pub(crate) fn threads(&self, most: usize) -> usize {
        let left = self.left();
        match left.jobs.iter().any(|job| job.file.is_unsized()) {
            true => most,
            false => most.min(left.jobs.len()),
        }
    }

    /// Waits where there may be another; `None` where there is none.
    pub(crate) fn next(&self) -> Option<Taken<'_>> {
        let mut left = self.left();
        loop {
            // What is newest stands last in a file, and is shown first.
            let next = match left.taken {
                Some(_) => left.jobs.pop_front(),
                None => left.jobs.pop_back(),
            };
            if let Some(job) = next {
                left.unsure += usize::from(job.file.is_unsized());
                if let Some(taken) = &mut left.taken {
                    taken.insert(job.key());
                }
                return Some(Taken { queue: self, job, more: Vec::new() });
            }
            if left.unsure == 0 {
                return None;
            }
            left = self.changed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The first job that is not done; `None` where all are.
    pub(crate) fn first(&self) -> Option<Key> {
        let left = self.left();
        let taken = left.taken.iter().flat_map(BTreeSet::first).copied();
        taken.chain(left.jobs.front().map(Job::key)).min()
    }

    /// Nothing more is to be done.
    pub(crate) fn end(&self) {
        self.left().jobs.clear();
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut left = self.queue.left();
        if let Some(taken) = &mut left.taken {
            taken.remove(&self.job.key());
        }
        if !self.job.file.is_unsized() {
            return;
        }
        left.unsure -= 1;
        let is_changed = left.unsure == 0 || !self.more.is_empty();
        for job in self.more.drain(..) {
            let at = left.jobs.partition_point(|one| one.key() < job.key());
            left.jobs.insert(at, job);
        }
        drop(left);
        if is_changed {
            self.queue.changed.notify_all();
        }
    }
}
