//! The search of the program: plain threads that take the next job until none is left.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use crate::kernel::{Plan, Worker};
use crate::merge::{Answer, Found, Merger};
use crate::parse::Records;
use crate::queue::{Queue, Taken};
use crate::{CHUNK_BYTES, Job, SourceFile};

/// What is done with each job behind its search, where that does not wait for the end.
pub(crate) type GoOn<'a> = dyn Fn(Taken<'_>, &Queue, &mut Worker<Records>) + Sync + 'a;

pub(crate) fn search(
    plan: &Plan,
    files: Vec<SourceFile>,
    threads: usize,
    go_on: Option<&GoOn<'_>>,
) -> Answer {
    let jobs = Job::cut(files.into_iter().map(Arc::new).collect(), CHUNK_BYTES);
    let queue = Queue::new(jobs, go_on.is_some());
    let mut merger = Merger::new(plan.limit);
    thread::scope(|scope| {
        let others: Vec<_> = (1..queue.threads(threads))
            .map(|_| scope.spawn(|| work(plan, &queue, go_on)))
            .collect();
        merger.add(work(plan, &queue, go_on));
        for other in others {
            merger.add(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    merger.finish()
}

fn work(plan: &Plan, queue: &Queue, go_on: Option<&GoOn<'_>>) -> Found {
    let mut worker = Worker::new(plan, Records::new(plan.scope));
    while let Some(mut taken) = queue.next() {
        worker.search_job(&taken.job);
        taken.more = worker.take_more();
        if worker.is_done() {
            queue.end();
        }
        if let Some(go_on) = go_on {
            go_on(taken, queue, &mut worker);
        }
    }
    worker.finish()
}
