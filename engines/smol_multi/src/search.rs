//! The search on several executor threads; the program with another allocator includes it as it is.

use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

use engines_kit::{Answer, Found, Granularity, Job, RunError, Search, Worker};
use smol::Executor;
use smol::channel::{self, Sender};
use smol::lock::Semaphore;

thread_local! {
    /// A thread of the pool keeps its worker, and with it the read buffer, from file to file.
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

pub(crate) fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    engines_smol_pool::check(&search)?;
    let executor = Executor::new();
    let (end, ended) = channel::bounded::<()>(1);
    thread::scope(|scope| {
        // The executor's threads end with it, also where it ends in a panic.
        let _end = end;
        for _ in 0..search.threads() {
            scope.spawn(|| smol::block_on(executor.run(ended.recv())));
        }
        smol::block_on(search_all(&executor, &search))
    })
}

async fn search_all(executor: &Executor<'_>, search: &Arc<Search>) -> Result<Answer, RunError> {
    let jobs = search.jobs(Granularity::File)?;
    let at_once = search.workload().semaphore.map(|files| files.max(1) as usize);
    let semaphore = Arc::new(Semaphore::new(at_once.unwrap_or(2 * search.threads())));
    let (sender, receiver) = match search.workload().channel_bound {
        Some(bound) => channel::bounded(bound.max(1) as usize),
        None => channel::unbounded(),
    };
    let task = |job| search_one(Arc::clone(search), job, Arc::clone(&semaphore), sender.clone());
    let tasks: Vec<_> = jobs.into_iter().map(|job| executor.spawn(task(job))).collect();
    drop(sender);
    let mut merger = search.merger();
    while let Ok(found) = receiver.recv().await {
        merger.add(found);
    }
    for task in tasks {
        // All are done; one that panicked says so here.
        task.await;
    }
    Ok(merger.finish())
}

async fn search_one(
    search: Arc<Search>,
    job: Job,
    semaphore: Arc<Semaphore>,
    sender: Sender<Found>,
) {
    let _permit = semaphore.acquire().await;
    let found = smol::unblock(move || search_job(&search, &job)).await;
    // It fails when nobody waits for an answer any more.
    let _ = sender.send(found).await;
}

fn search_job(search: &Search, job: &Job) -> Found {
    WORKER.with_borrow_mut(|worker| {
        let worker = worker.get_or_insert_with(|| search.worker());
        worker.search_job(job);
        worker.take()
    })
}
