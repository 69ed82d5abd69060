//! The worker in Rust, as a process: what a worker in another language is held against.

#![forbid(unsafe_code)]

use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use workflows_worker::{Hello, Worker};

fn main() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("workflows-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> io::Result<()> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let mut worker = Worker::open(input, output, Hello { ffi_call_ns: None })?;
    while let Some(step) = worker.next_step()? {
        let value = step.operation()?.compute(&step.values, step.part);
        worker.record(value)?;
    }
    Ok(())
}
