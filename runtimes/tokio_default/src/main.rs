//! Tokio as it comes: a worker per core, work stealing, one spawned task an agent.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use reqwest::Client;
use runtimes_client::{call, client};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};
use tokio::runtime::{Handle, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        // What `#[tokio::main]` expands to.
        let runtime = Runtime::new().map_err(RunError::setup)?;
        let logs = runtime.block_on(run(workload, Arc::clone(&meter)))?;
        meter.count_tasks_left(&logs, || runtime.metrics().num_alive_tasks());
        Ok(logs)
    })
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let client = client(&workload)?;
    let metrics = Handle::current().metrics();
    meter.watch_queue(move || metrics.global_queue_depth());
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, client.clone()));
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

async fn drive(mut agent: AgentRun, client: Client) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        tokio::time::sleep_until(due.into()).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = tokio::task::spawn_blocking(|| job.run()).await;
    agent.ingested(ingested.expect("reading a folder does not panic"))?;
    while let Some(request) = agent.next_request() {
        call(&client, &mut agent, request).await?;
    }
    Ok(agent.finish())
}
