//! The search of the program: plain threads that take the next chunk until none is left.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::kernel::{Plan, Worker};
use crate::merge::{Answer, Found, Merger};
use crate::parse::Records;
use crate::{CHUNK_BYTES, Job, SourceFile};

pub(crate) fn search(plan: &Plan, files: Vec<SourceFile>, threads: usize) -> Answer {
    let jobs = Job::cut(files.into_iter().map(Arc::new).collect(), CHUNK_BYTES);
    let next = AtomicUsize::new(0);
    let mut merger = Merger::new(plan.limit);
    thread::scope(|scope| {
        // More threads than jobs would start for nothing.
        let others: Vec<_> = (1..threads.min(jobs.len()))
            .map(|_| scope.spawn(|| work(plan, &jobs, &next)))
            .collect();
        merger.add(work(plan, &jobs, &next));
        for other in others {
            merger.add(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    merger.finish()
}

fn work(plan: &Plan, jobs: &[Job], next: &AtomicUsize) -> Found {
    let mut worker = Worker::new(plan, Records::new(plan.scope));
    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        worker.search_job(job);
        if worker.is_done() {
            next.store(jobs.len(), Ordering::Relaxed);
        }
    }
    worker.finish()
}
