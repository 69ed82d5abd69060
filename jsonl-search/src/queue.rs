//! The jobs that are left: a file of unknown size may turn out to be several.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Job;

#[derive(Debug)]
pub(crate) struct Queue {
    left: Mutex<Left>,
    changed: Condvar,
}

#[derive(Debug)]
struct Left {
    jobs: VecDeque<Job>,
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
    pub(crate) fn new(jobs: Vec<Job>) -> Self {
        let left = Left { jobs: jobs.into(), unsure: 0 };
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
            if let Some(job) = left.jobs.pop_front() {
                left.unsure += usize::from(job.file.is_unsized());
                return Some(Taken { queue: self, job, more: Vec::new() });
            }
            if left.unsure == 0 {
                return None;
            }
            left = self.changed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
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
        if !self.job.file.is_unsized() {
            return;
        }
        let mut left = self.queue.left();
        left.unsure -= 1;
        let is_changed = left.unsure == 0 || !self.more.is_empty();
        self.more.drain(..).rev().for_each(|job| left.jobs.push_front(job));
        drop(left);
        if is_changed {
            self.queue.changed.notify_all();
        }
    }
}
