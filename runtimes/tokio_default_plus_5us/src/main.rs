//! A known answer for the lab itself: `tokio_default`, with 5 µs of CPU time more for each line of
//! a stream. A line is a token, or the `done` at the end.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Client;
use runtimes_client::{client, failed, post};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, Request, RunError, Workload, variant_main,
};
use tokio::runtime::{Handle, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));
/// What a line costs more.
const PLANTED: Duration = Duration::from_micros(5);

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        // What `#[tokio::main]` expands to.
        let runtime = Runtime::new().map_err(RunError::setup)?;
        runtime.block_on(run(workload, meter))
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

/// [`runtimes_client::call`], slower.
async fn call(client: &Client, agent: &mut AgentRun, request: Request) -> Result<(), RunError> {
    let sent = post(client, request).send().await;
    let mut response = sent.map_err(|error| failed(agent, &error))?;
    agent.head(response.status().as_u16());
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                agent.feed(&bytes)?;
                work_for_nothing(bytes.iter().filter(|&&byte| byte == b'\n').count());
                if agent.drops() {
                    return Ok(());
                }
            }
            Ok(None) => return agent.end_of_body(),
            Err(error) => return Err(failed(agent, &error)),
        }
    }
}

fn work_for_nothing(lines: usize) {
    let start = Instant::now();
    while start.elapsed() < PLANTED * u32::try_from(lines).unwrap_or(u32::MAX) {
        std::hint::spin_loop();
    }
}
