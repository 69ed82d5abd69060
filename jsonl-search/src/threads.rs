//! The search of the program: plain threads that take the next chunk until none is left.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::vec::IntoIter;

use crate::kernel::{Plan, Worker};
use crate::merge::{Answer, Found, Merger};
use crate::parse::Records;
use crate::{CHUNK_BYTES, Job, SourceFile};

pub(crate) fn search(plan: &Plan, files: Vec<SourceFile>, threads: usize) -> Answer {
    let jobs = Job::cut(files.into_iter().map(Arc::new).collect(), CHUNK_BYTES);
    let count = jobs.len();
    // Each is given up when it is done, and with the last one of a file its map.
    let jobs = Mutex::new(jobs.into_iter());
    let mut merger = Merger::new(plan.limit);
    thread::scope(|scope| {
        // More threads than jobs would start for nothing.
        let others: Vec<_> =
            (1..threads.min(count)).map(|_| scope.spawn(|| work(plan, &jobs))).collect();
        merger.add(work(plan, &jobs));
        for other in others {
            merger.add(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    merger.finish()
}

fn work(plan: &Plan, jobs: &Mutex<IntoIter<Job>>) -> Found {
    let mut worker = Worker::new(plan, Records::new(plan.scope));
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    while let Some(job) = next() {
        worker.search_job(&job);
        if worker.is_done() {
            *jobs.lock().unwrap_or_else(PoisonError::into_inner) = Vec::new().into_iter();
        }
    }
    worker.finish()
}
