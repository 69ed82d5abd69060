//! As many one-thread Tokio runtimes as cores, over plain sockets. Agents are given to them in
//! turn and stay there: nobody steals, and no core waits for another one's lock. It differs from
//! `tokio_threads` in that alone.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{self, available_parallelism};
use std::time::Duration;

use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};
use runtimes_tokio_connection::drive;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    let cores = available_parallelism().map_err(RunError::setup)?.get();
    let agents = AgentRun::all(&workload, &meter);
    match workload.arrangement {
        Arrangement::Concurrent => together(agents, cores, stall_timeout),
        Arrangement::Solo => {
            let alone = |agent| together(vec![agent], cores, stall_timeout);
            let logs: Result<Vec<_>, _> = agents.into_iter().map(alone).collect();
            Ok(logs?.into_iter().flatten().collect())
        }
    }
}

/// A thread for each core, or for each agent where those are fewer.
fn together(
    agents: Vec<AgentRun>,
    cores: usize,
    stall_timeout: Duration,
) -> Result<Vec<AgentLog>, RunError> {
    let count = agents.len();
    let mut shares: Vec<Vec<AgentRun>> = (0..cores.min(count)).map(|_| Vec::new()).collect();
    for (index, agent) in agents.into_iter().enumerate() {
        shares[index % cores].push(agent);
    }
    let threads: Vec<_> = shares
        .into_iter()
        .map(|share| thread::Builder::new().spawn(move || one_core(share, stall_timeout)))
        .collect();
    let mut done = Vec::new();
    for thread in threads {
        let share = thread.map_err(RunError::setup)?.join();
        done.push(share.unwrap_or_else(|panic| Err(RunError::panicked(&*panic)))?.into_iter());
    }
    Ok((0..count).filter_map(|index| done[index % cores].next()).collect())
}

fn one_core(agents: Vec<AgentRun>, stall_timeout: Duration) -> Result<Vec<AgentLog>, RunError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(RunError::setup)?;
    let local = LocalSet::new();
    runtime.block_on(local.run_until(async {
        let agents = agents.into_iter().map(|agent| spawn_local(drive(agent, stall_timeout)));
        let tasks: Vec<_> = agents.collect();
        let mut logs = Vec::new();
        for task in tasks {
            logs.push(task.await.expect("an agent's task does not panic")?);
        }
        Ok(logs)
    }))
}
