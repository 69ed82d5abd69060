//! The search of the program: plain threads that take the next job until none is left.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use crate::kernel::{Plan, Worker};
use crate::merge::{Answer, Found, Merger};
use crate::parse::Records;
use crate::queue::Queue;
use crate::{CHUNK_BYTES, Job, SourceFile};

pub(crate) fn search(plan: &Plan, files: Vec<SourceFile>, threads: usize) -> Answer {
    let queue = Queue::new(Job::cut(files.into_iter().map(Arc::new).collect(), CHUNK_BYTES));
    let mut merger = Merger::new(plan.limit);
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..queue.threads(threads)).map(|_| scope.spawn(|| work(plan, &queue))).collect();
        merger.add(work(plan, &queue));
        for other in others {
            merger.add(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    merger.finish()
}

fn work(plan: &Plan, queue: &Queue) -> Found {
    let mut worker = Worker::new(plan, Records::new(plan.scope));
    while let Some(mut taken) = queue.next() {
        worker.search_job(&taken.job);
        taken.more = worker.take_more();
        if worker.is_done() {
            queue.end();
        }
    }
    worker.finish()
}
