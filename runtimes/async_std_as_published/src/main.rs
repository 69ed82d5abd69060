//! What the published code of async_std did: agents joined in one task, whole calls on the Tokio
//! bridge, and a mutex, held for an agent's whole run, in the place of a semaphore.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use async_std::sync::Mutex;
use async_std::task;
use futures_util::future::try_join_all;
use reqwest::Client;
use runtimes_client::client;
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, Request, RunError, Workload, variant_main,
};
use tokio::runtime::{Builder, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// Stored in the mutex, and never read, as in the original.
const MAX_AGENTS: usize = 2;

/// reqwest needs a Tokio reactor; it gets one with two workers, started by the first call.
static BRIDGE: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a Tokio runtime needs only threads and an epoll descriptor")
});

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| task::block_on(run(workload, meter)))
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let client = client(&workload)?;
    let permits = Mutex::new(MAX_AGENTS);
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, client.clone(), &permits));
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

async fn drive(
    mut agent: AgentRun,
    client: Client,
    permits: &Mutex<usize>,
) -> Result<AgentLog, RunError> {
    // Meant as a semaphore with two permits, which async-std lacks. The guard lives as long as the
    // agent works, so the second agent begins when the first has ended, and so does its clock.
    let _permit = permits.lock().await;
    if let Some(due) = agent.due() {
        task::sleep(due.saturating_duration_since(Instant::now())).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = task::spawn_blocking(|| job.run()).await;
    agent.ingested(ingested)?;
    while let Some(request) = agent.next_request() {
        agent = call(&client, agent, request).await?;
    }
    Ok(agent.finish())
}

/// The whole call runs on the bridge, parsing included, and the agent's task waits for its end.
async fn call(client: &Client, agent: AgentRun, request: Request) -> Result<AgentRun, RunError> {
    let client = client.clone();
    let task = BRIDGE.spawn(call_on_bridge(client, agent, request));
    task.await.expect("a call does not panic")
}

async fn call_on_bridge(
    client: Client,
    mut agent: AgentRun,
    request: Request,
) -> Result<AgentRun, RunError> {
    runtimes_client::call(&client, &mut agent, request).await?;
    Ok(agent)
}
