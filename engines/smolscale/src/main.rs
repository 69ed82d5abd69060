//! smolscale, which the published benchmark names and left untested: a task per file on workers
//! that a balancer evens out. A task reads and searches by itself, on the worker that runs it.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use engines_kit::{
    Answer, Found, Granularity, Identity, Job, RunError, Search, Worker, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

thread_local! {
    /// A worker of smolscale keeps ours, and with it the read buffer, from file to file.
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

/// smolscale has one thread or as many as there are processors, and no other number.
fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    search.without_channel()?;
    search.without_semaphore()?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    match search.threads() {
        1 => smolscale::permanently_single_threaded(),
        threads if threads == processors => {}
        _ => {
            let sentence = format!("this engine has 1 thread or {processors}: set threads to that");
            return Err(RunError::unsupported(sentence));
        }
    }
    smolscale::block_on(search_all(search))
}

async fn search_all(search: Arc<Search>) -> Result<Answer, RunError> {
    let task = |job: Job| {
        let search = Arc::clone(&search);
        smolscale::spawn(async move { search_job(&search, &job) })
    };
    let tasks: Vec<_> = search.jobs(Granularity::File)?.into_iter().map(task).collect();
    let mut merger = search.merger();
    for task in tasks {
        merger.add(task.await);
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
