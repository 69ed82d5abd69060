//! The roofline in practice: every byte of the mapped corpus looked at once, newlines counted.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use engines_kit::{Answer, CHUNKS, Identity, Job, RunError, Search, count_newlines, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |search| run(&search))
}

fn run(search: &Search) -> Result<Answer, RunError> {
    let jobs = search.jobs(CHUNKS)?;
    let next = AtomicUsize::new(0);
    let counted: Result<Vec<u64>, RunError> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..search.threads()).map(|_| scope.spawn(|| count(search, &jobs, &next))).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
    });
    let mut answer = search.merger().finish();
    // In the outcome, so that nobody can optimise the scan away.
    answer.tally.lines = counted?.into_iter().sum();
    let whole = |job: &&Job| job.chunk.start == 0;
    answer.tally.bytes = jobs.iter().filter(whole).map(|job| job.file.bytes).sum();
    Ok(answer)
}

fn count(search: &Search, jobs: &[Job], next: &AtomicUsize) -> Result<u64, RunError> {
    let mut lines = 0;
    while let Some(Job { file, chunk }) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        let bytes = file.map(search.advise()).map_err(RunError::setup)?;
        let end = usize::try_from(chunk.end).unwrap_or(usize::MAX).min(bytes.len());
        let start = (chunk.start as usize).min(end);
        lines += count_newlines(&bytes[start..end]);
    }
    Ok(lines)
}
