//! Plain threads that take the next chunk from one list until none is left.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use engines_kit::{Answer, CHUNKS, Found, Identity, Job, RunError, Search, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    search.without_channel()?;
    search.without_semaphore()?;
    let jobs = search.jobs(CHUNKS)?;
    let next = AtomicUsize::new(0);
    let mut merger = search.merger();
    thread::scope(|scope| {
        // More threads than jobs would start for nothing.
        let others: Vec<_> = (1..search.threads().min(jobs.len()))
            .map(|_| scope.spawn(|| work(&search, &jobs, &next)))
            .collect();
        merger.add(work(&search, &jobs, &next));
        for other in others {
            match other.join() {
                Ok(found) => merger.add(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    Ok(merger.finish())
}

/// A thread that is done takes the next chunk, whosever it might have been: all the stealing that
/// is needed, at one atomic addition for a few megabytes.
fn work(search: &Search, jobs: &[Job], next: &AtomicUsize) -> Found {
    let mut worker = search.worker();
    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        worker.search_job(job);
    }
    worker.finish()
}
