//! async-std: one spawned task an agent. reqwest runs on a Tokio bridge that hands over each chunk.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use async_std::channel;
use async_std::task;
use reqwest::Client;
use runtimes_client::{client, failed, post};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, Request, RunError, Workload, variant_main,
};
use tokio::runtime::{Builder, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// An agent that keeps up leaves the channel empty; one that does not slows the socket down.
const CHUNKS_IN_FLIGHT: usize = 64;

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
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, client.clone()));
    let mut logs = Vec::new();
    match workload.arrangement {
        Arrangement::Concurrent => {
            let tasks: Vec<_> = agents.map(task::spawn).collect();
            for task in tasks {
                logs.push(task.await?);
            }
        }
        Arrangement::Solo => {
            for agent in agents {
                logs.push(task::spawn(agent).await?);
            }
        }
    }
    Ok(logs)
}

async fn drive(mut agent: AgentRun, client: Client) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        task::sleep(due.saturating_duration_since(Instant::now())).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = task::spawn_blocking(|| job.run()).await;
    agent.ingested(ingested)?;
    while let Some(request) = agent.next_request() {
        call(&client, &mut agent, request).await?;
    }
    Ok(agent.finish())
}

/// The HTTP call runs on the bridge; each chunk is handed over to the agent's own task, which
/// parses it.
async fn call(client: &Client, agent: &mut AgentRun, request: Request) -> Result<(), RunError> {
    let post = post(client, request);
    // `send` starts a timer at once, so it must be called on the bridge, too.
    let sent = BRIDGE.spawn(async { post.send().await }).await;
    let sent = sent.expect("sending a request does not panic");
    let mut response = sent.map_err(|error| failed(agent, &error))?;
    agent.head(response.status().as_u16());
    let (hand_over, chunks) = channel::bounded(CHUNKS_IN_FLIGHT);
    BRIDGE.spawn(async move {
        while let Some(chunk) = response.chunk().await.transpose() {
            let over = chunk.is_err();
            // It fails when the agent has given up.
            if hand_over.send(chunk).await.is_err() || over {
                break;
            }
        }
    });
    while !agent.drops()
        && let Ok(chunk) = chunks.recv().await
    {
        agent.feed(&chunk.map_err(|error| failed(agent, &error))?)?;
    }
    agent.end_of_body()
}
