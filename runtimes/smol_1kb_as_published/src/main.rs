//! What the published code of smol_1kb did: agents joined in one task, whole calls on the Tokio
//! bridge, and a stream that holds tokens back until 1,024 bytes are there.

#![forbid(unsafe_code)]

mod rechunk;

use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use futures_util::StreamExt;
use futures_util::future::try_join_all;
use rechunk::Rechunked;
use reqwest::Client;
use runtimes_client::{client, failed, post};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, Request, RunError, Workload, variant_main,
};
use tokio::runtime::{Builder, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// reqwest needs a Tokio reactor; it gets one with two workers, started by the first call.
static BRIDGE: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a Tokio runtime needs only threads and an epoll descriptor")
});

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| smol::block_on(run(workload, meter)))
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
        smol::Timer::at(due).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = smol::unblock(|| job.run()).await;
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
    let sent = post(&client, request).send().await;
    let response = sent.map_err(|error| failed(&agent, &error))?;
    agent.head(response.status().as_u16());
    let mut stream = Rechunked::new(response.bytes_stream());
    while !agent.drops()
        && let Some(chunk) = stream.next().await
    {
        agent.feed(&chunk.map_err(|error| failed(&agent, &error))?)?;
    }
    agent.end_of_body()?;
    Ok(agent)
}
