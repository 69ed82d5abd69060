//! smol over plain sockets: its own reactor, no bridge to Tokio, one spawned task an agent. What
//! the bridge adds, `smol` adds to this.

#![forbid(unsafe_code)]

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtimes_connection::{Connection, Transport};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};
use smol::Timer;
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::TcpStream;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| smol::block_on(run(workload, meter)))
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, stall_timeout));
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

async fn drive(mut agent: AgentRun, stall_timeout: Duration) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        Timer::at(due).await;
    }
    agent.start();
    let job = agent.ingest_job();
    agent.ingested(smol::unblock(|| job.run()).await)?;
    let mut connection = Connection::<SmolTransport>::new(stall_timeout);
    while let Some(request) = agent.next_request() {
        connection.call(&mut agent, &request).await?;
    }
    Ok(agent.finish())
}

struct SmolTransport(TcpStream);

impl Transport for SmolTransport {
    async fn connect(authority: &str, _: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    async fn write_all(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.0.write_all(&bytes).await
    }

    async fn read(&mut self, mut buffer: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        (self.0.read(&mut buffer).await, buffer)
    }

    async fn sleep_until(deadline: Instant) {
        Timer::at(deadline).await;
    }
}
