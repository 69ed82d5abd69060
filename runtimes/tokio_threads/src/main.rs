//! Multi-thread Tokio over plain sockets: a worker per core, work stealing, one spawned task an
//! agent. It differs from `tokio_sockets` in its scheduler alone.

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
        let runtime = Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(RunError::setup)?;
        let logs = runtime.block_on(run(workload, Arc::clone(&meter)))?;
        meter.count_tasks_left(&logs, || runtime.metrics().num_alive_tasks());
        Ok(logs)
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
