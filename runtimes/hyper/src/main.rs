//! hyper's client on one-thread Tokio, without reqwest. It differs from `tokio_sockets` in who
//! reads HTTP: hyper does in a task of its own, and hands the body over in pieces.

#![forbid(unsafe_code)]

mod client;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use client::Client;
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};
use tokio::runtime::{Builder, Handle};
use tokio::task::{LocalSet, spawn_local};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(RunError::setup)?;
        let local = LocalSet::new();
        runtime.block_on(local.run_until(run(workload, meter)))
    })
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
            let tasks: Vec<_> = agents.map(spawn_local).collect();
            for task in tasks {
                logs.push(task.await.expect("an agent's task does not panic")?);
            }
        }
        Arrangement::Solo => {
            for agent in agents {
                let task = spawn_local(agent);
                logs.push(task.await.expect("an agent's task does not panic")?);
            }
        }
    }
    Ok(logs)
}

async fn drive(mut agent: AgentRun, stall_timeout: Duration) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        tokio::time::sleep_until(due.into()).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = tokio::task::spawn_blocking(|| job.run()).await;
    agent.ingested(ingested.expect("reading a folder does not panic"))?;
    let mut client = Client::new(stall_timeout);
    while let Some(request) = agent.next_request() {
        client.call(&mut agent, request).await?;
    }
    Ok(agent.finish())
}
