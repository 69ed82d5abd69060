//! The floor: one thread, file after file. What threads and runtimes add, they add to this.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use engines_kit::{Answer, Granularity, Identity, RunError, Search, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

fn run(search: Arc<Search>) -> Result<Answer, RunError> {
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
