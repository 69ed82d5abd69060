//! The search on smol's blocking pool; the program with another allocator includes it as it is.

use std::cell::RefCell;
use std::sync::Arc;

use engines_kit::{Answer, Found, Granularity, Job, RunError, Search, Worker};
use smol::channel::{self, Sender};
use smol::lock::Semaphore;

thread_local! {
    /// A thread of the pool keeps its worker, and with it the read buffer, from file to file.
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

pub(crate) fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    engines_smol_pool::check(&search)?;
    smol::block_on(search_all(search))
}

async fn search_all(search: Arc<Search>) -> Result<Answer, RunError> {
    let jobs = search.jobs(Granularity::File)?;
    let semaphore = search.workload().semaphore.map(|files| files.max(1) as usize);
    let semaphore = semaphore.map(|files| Arc::new(Semaphore::new(files)));
    let (sender, receiver) = match search.workload().channel_bound {
        Some(bound) => channel::bounded(bound.max(1) as usize),
        None => channel::unbounded(),
    };
    let task = |job| search_one(Arc::clone(&search), job, semaphore.clone(), sender.clone());
    let tasks: Vec<_> = jobs.into_iter().map(|job| smol::spawn(task(job))).collect();
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
    semaphore: Option<Arc<Semaphore>>,
    sender: Sender<Found>,
) {
    let _permit = match &semaphore {
        Some(semaphore) => Some(semaphore.acquire().await),
        None => None,
    };
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
