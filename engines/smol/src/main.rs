//! smol with a blocking job per file, the standard engine of the published benchmark: its executor
//! has one thread, and its blocking pool, which does all the work, up to 500.

mod pool;

use std::cell::RefCell;
use std::process::ExitCode;
use std::sync::Arc;

use engines_kit::{Answer, Found, Identity, RunError, Search, SourceFile, Worker, variant_main};
use smol::channel::{self, Sender};
use smol::lock::Semaphore;

const IDENTITY: Identity =
    Identity { variant: "smol", measures: "smol", version: "2.0.2", features: &[] };

thread_local! {
    /// A thread of the pool keeps its worker, and with it the read buffer, from file to file.
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

fn main() -> ExitCode {
    if let Err(error) = pool::restart() {
        eprintln!("smol: cannot start over with a pool of the workload's size: {error}");
        return ExitCode::FAILURE;
    }
    variant_main(&IDENTITY, run)
}

fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    pool::check(&search)?;
    smol::block_on(search_all(search))
}

async fn search_all(search: Arc<Search>) -> Result<Answer, RunError> {
    let files = search.walk()?;
    let semaphore = search.workload().semaphore.map(|files| files.max(1) as usize);
    let semaphore = semaphore.map(|files| Arc::new(Semaphore::new(files)));
    let (sender, receiver) = match search.workload().channel_bound {
        Some(bound) => channel::bounded(bound.max(1) as usize),
        None => channel::unbounded(),
    };
    let job = |file| job(Arc::clone(&search), file, semaphore.clone(), sender.clone());
    let tasks: Vec<_> = files.into_iter().map(|file| smol::spawn(job(file))).collect();
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

async fn job(
    search: Arc<Search>,
    file: SourceFile,
    semaphore: Option<Arc<Semaphore>>,
    sender: Sender<Found>,
) {
    let _permit = match &semaphore {
        Some(semaphore) => Some(semaphore.acquire().await),
        None => None,
    };
    let found = smol::unblock(move || search_file(&search, &file)).await;
    // It fails when nobody waits for an answer any more.
    let _ = sender.send(found).await;
}

fn search_file(search: &Search, file: &SourceFile) -> Found {
    WORKER.with_borrow_mut(|worker| {
        let worker = worker.get_or_insert_with(|| search.worker());
        worker.search_file(file);
        worker.take()
    })
}
