//! What the published code called a pinned LocalSet: a multi-thread runtime, and both agents joined
//! in the one future that `LocalSet::run_until` polls. Nothing is spawned on the `LocalSet`.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::try_join_all;
use reqwest::Client;
use runtimes_client::{call, client};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        // What `#[tokio::main]` expands to.
        let runtime = Runtime::new().map_err(RunError::setup)?;
        let local = LocalSet::new();
        runtime.block_on(local.run_until(run(workload, meter)))
    })
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let client = client(&workload)?;
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, client.clone()));
    match workload.arrangement {
        Arrangement::Concurrent => try_join_all(agents).await,
        Arrangement::Solo => {
            let mut logs = Vec::new();
            for agent in agents {
                logs.push(agent.await?);
            }
            Ok(logs)
        }
    }
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
