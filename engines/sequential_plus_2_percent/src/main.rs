//! A known answer for the lab itself: `sequential`, slower by exactly 2 %.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use engines_kit::{Answer, Granularity, Identity, RunError, Search, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    let start = Instant::now();
    let answer = sequential(&search)?;
    // One fiftieth of what the search took, whatever it took: no machine changes the truth.
    let all = start.elapsed() * 51 / 50;
    while start.elapsed() < all {
        black_box(&answer);
    }
    Ok(answer)
}

fn sequential(search: &Arc<Search>) -> Result<Answer, RunError> {
    search.without_channel()?;
    search.without_semaphore()?;
    if !matches!(search.workload().threads, None | Some(1)) {
        return Err(RunError::unsupported("this engine has one thread: set threads to 1"));
    }
    let mut worker = search.worker();
    for job in search.jobs(Granularity::File)? {
        worker.search_job(&job);
    }
    let mut merger = search.merger();
    merger.add(worker.finish());
    Ok(merger.finish())
}
