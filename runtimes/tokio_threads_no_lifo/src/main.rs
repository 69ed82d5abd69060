//! `tokio_threads` without the slot in which a worker keeps the task that it woke last, and which
//! nobody may steal from. Tokio offers that only to builds with `tokio_unstable`.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};
use runtimes_tokio_connection::drive;
use tokio::runtime::{Builder, Handle};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        let runtime = without_slot()?.enable_all().build();
        runtime.map_err(RunError::setup)?.block_on(run(workload, meter))
    })
}

#[cfg(tokio_unstable)]
fn without_slot() -> Result<Builder, RunError> {
    let mut builder = Builder::new_multi_thread();
    builder.disable_lifo_slot();
    Ok(builder)
}

#[cfg(not(tokio_unstable))]
fn without_slot() -> Result<Builder, RunError> {
    Err(RunError::unsupported(
        "this build of Tokio always has the slot: build with --config=tokio_unstable (Bazel) or \
         with cargo --config tools/cargo/tokio-unstable.toml",
    ))
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    let metrics = Handle::current().metrics();
    meter.watch_queue(move || metrics.global_queue_depth());
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, stall_timeout));
    let mut logs = Vec::new();
    match workload.arrangement {
        Arrangement::Concurrent => {
            let tasks: Vec<_> = agents.map(tokio::spawn).collect();
            for task in tasks {
                logs.push(task.await.expect("an agent's task does not panic")?);
            }
        }
        Arrangement::Solo => {
            for agent in agents {
                let task = tokio::spawn(agent);
                logs.push(task.await.expect("an agent's task does not panic")?);
            }
        }
    }
    Ok(logs)
}
