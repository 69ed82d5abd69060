//! Tokio with a blocking job per file: the runtime's pool reads and searches, a task collects.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::Arc;

use engines_kit::{
    Answer, Found, Granularity, Identity, Job, RunError, Search, Worker, variant_main,
};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const IDENTITY: Identity = Identity::of(include_str!("../../variant.toml"));

thread_local! {
    /// A thread of the pool keeps its worker, and with it the read buffer, from file to file.
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

/// The runtime is the one that `#[tokio::main]` makes, unless the workload names threads: then its
/// workers, which have nothing to search here, and its blocking pool are both as many.
fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    search.without_channel()?;
    let mut builder = Builder::new_multi_thread();
    if search.workload().threads.is_some() {
        builder.worker_threads(search.threads()).max_blocking_threads(search.threads());
    }
    let runtime = builder.build().map_err(RunError::setup)?;
    runtime.block_on(search_all(search))
}

async fn search_all(search: Arc<Search>) -> Result<Answer, RunError> {
    let jobs = search.jobs(Granularity::File)?;
    let semaphore = search.workload().semaphore.map(|files| files.max(1) as usize);
    let semaphore = semaphore.map(|files| Arc::new(Semaphore::new(files)));
    let mut tasks = JoinSet::new();
    for job in jobs {
        let permit = match &semaphore {
            Some(semaphore) => Some(Arc::clone(semaphore).acquire_owned().await),
            None => None,
        };
        let search = Arc::clone(&search);
        tasks.spawn_blocking(move || {
            let found = search_job(&search, &job);
            drop(permit);
            found
        });
    }
    let mut merger = search.merger();
    while let Some(found) = tasks.join_next().await {
        merger.add(found.unwrap_or_else(|error| resume_unwind(error.into_panic())));
    }
    Ok(merger.finish())
}

fn search_job(search: &Search, job: &Job) -> Found {
    WORKER.with_borrow_mut(|worker| {
        let worker = worker.get_or_insert_with(|| search.worker());
        worker.search_job(job);
        worker.take()
    })
}
