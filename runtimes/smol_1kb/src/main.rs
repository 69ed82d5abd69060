//! smol with the reply's stream re-chunked to 1 KiB, as the report prints it, or to pieces of the
//! size that the workload asks for. reqwest runs on a Tokio bridge that hands over each piece.

#![forbid(unsafe_code)]

mod rechunk;

use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use futures_util::StreamExt;
use rechunk::Rechunked;
use reqwest::Client;
use runtimes_client::{client, failed, post};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, Request, RunError, Workload,
    cutting_variant_main,
};
use smol::channel;
use tokio::runtime::{Builder, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// Bytes of a piece where the workload asks for none.
const PIECE: usize = 1024;

/// An agent that keeps up leaves the channel empty; one that does not slows the socket down.
const CHUNKS_IN_FLIGHT: usize = 64;

/// reqwest needs a Tokio reactor; it gets one with two workers, started by the first call.
static BRIDGE: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a Tokio runtime needs only threads and an epoll descriptor")
});

fn main() -> ExitCode {
    cutting_variant_main(&IDENTITY, |workload, meter| smol::block_on(run(workload, meter)))
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let client = client(&workload)?;
    let piece = workload.piece_bytes.map_or(PIECE, |bytes| bytes as usize);
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, client.clone(), piece));
    let mut logs = Vec::new();
    match workload.arrangement {
        Arrangement::Concurrent => {
            let tasks: Vec<_> = agents.map(smol::spawn).collect();
            for task in tasks {
                logs.push(task.await?);
            }
        }
        Arrangement::Solo => {
            for agent in agents {
                logs.push(smol::spawn(agent).await?);
            }
        }
    }
    Ok(logs)
}

async fn drive(mut agent: AgentRun, client: Client, piece: usize) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        smol::Timer::at(due).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = smol::unblock(|| job.run()).await;
    agent.ingested(ingested)?;
    while let Some(request) = agent.next_request() {
        call(&client, &mut agent, request, piece).await?;
    }
    Ok(agent.finish())
}

/// The HTTP call runs on the bridge; each chunk is handed over to the agent's own task, which
/// parses it.
async fn call(
    client: &Client,
    agent: &mut AgentRun,
    request: Request,
    piece: usize,
) -> Result<(), RunError> {
    let post = post(client, request);
    // `send` starts a timer at once, so it must be called on the bridge, too.
    let sent = BRIDGE.spawn(async { post.send().await }).await;
    let sent = sent.expect("sending a request does not panic");
    let response = sent.map_err(|error| failed(agent, &error))?;
    agent.head(response.status().as_u16());
    let (hand_over, chunks) = channel::bounded(CHUNKS_IN_FLIGHT);
    BRIDGE.spawn(async move {
        let mut stream = Rechunked::new(response.bytes_stream(), piece);
        while let Some(chunk) = stream.next().await {
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
