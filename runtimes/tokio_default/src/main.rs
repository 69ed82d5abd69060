//! Tokio as it comes: a worker per core, work stealing, one spawned task an agent.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, CallError, Identity, Meter, Request, RunError, Workload,
    variant_main,
};
use tokio::runtime::Runtime;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        // What `#[tokio::main]` expands to.
        let runtime = Runtime::new().map_err(RunError::setup)?;
        runtime.block_on(run(workload, meter))
    })
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let client = client(&workload)?;
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
    agent.start();
    let job = agent.ingest_job();
    let ingested = tokio::task::spawn_blocking(|| job.run()).await;
    agent.ingested(ingested.expect("reading a folder does not panic"))?;
    while let Some(request) = agent.next_request() {
        call(&client, &mut agent, request).await?;
    }
    Ok(agent.finish())
}

async fn call(client: &Client, agent: &mut AgentRun, request: Request) -> Result<(), RunError> {
    let post = client.post(request.url).header(CONTENT_TYPE, "application/json");
    let sent = post.body(request.body).send().await;
    let mut response = sent.map_err(|error| agent.failed(call_error(&error)))?;
    agent.head(response.status().as_u16());
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) => agent.feed(&bytes)?,
            Ok(None) => return agent.end_of_body(),
            Err(error) => return Err(agent.failed(call_error(&error))),
        }
    }
}

/// The same in every variant: one client for the process, as in the original.
fn client(workload: &Workload) -> Result<Client, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    // A proxy of the environment would be measured with the runtime.
    let client = Client::builder().no_proxy().read_timeout(stall_timeout).build();
    client.map_err(RunError::setup)
}

fn call_error(error: &reqwest::Error) -> CallError {
    CallError::from_client(error, error.is_timeout())
}
