//! compio on one thread over plain sockets: the kernel fills a buffer and says that it is done
//! (`io_uring`), in place of saying that there is something to read. Where a process may not use
//! that, compio waits on epoll; the counter `io_uring` says which it was.

#![forbid(unsafe_code)]

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compio::BufResult;
use compio::driver::DriverType;
use compio::io::{AsyncRead, AsyncWriteExt};
use compio::net::TcpStream;
use compio::runtime::{JoinHandle, Runtime, spawn, spawn_blocking};
use compio::time::sleep_until;
use runtimes_connection::{Connection, Transport};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        // It tries io_uring, then epoll.
        let runtime = Runtime::new().map_err(|error| {
            let sentence = "the kernel gives this process neither io_uring nor epoll";
            RunError::unsupported(format!("{sentence}: {error}"))
        })?;
        meter.io_uring(runtime.driver_type() == DriverType::IoUring);
        runtime.block_on(run(workload, meter))
    })
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, stall_timeout));
    let mut logs = Vec::new();
    match workload.arrangement {
        Arrangement::Concurrent => {
            let tasks: Vec<_> = agents.map(spawn).collect();
            for task in tasks {
                logs.push(joined(task).await?);
            }
        }
        Arrangement::Solo => {
            for agent in agents {
                logs.push(joined(spawn(agent)).await?);
            }
        }
    }
    Ok(logs)
}

async fn joined<T>(task: JoinHandle<T>) -> T {
    task.await.expect("a task does not panic and is not cancelled")
}

async fn drive(mut agent: AgentRun, stall_timeout: Duration) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        sleep_until(due).await;
    }
    agent.start();
    let job = agent.ingest_job();
    agent.ingested(joined(spawn_blocking(|| job.run())).await)?;
    let mut connection = Connection::<CompioTransport>::new(stall_timeout);
    while let Some(request) = agent.next_request() {
        connection.call(&mut agent, &request).await?;
    }
    Ok(agent.finish())
}

struct CompioTransport(TcpStream);

impl Transport for CompioTransport {
    async fn connect(authority: &str, _: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    async fn write_all(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.0.write_all(bytes).await.0
    }

    async fn read(&mut self, buffer: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        let BufResult(read, buffer) = self.0.read(buffer).await;
        (read, buffer)
    }

    async fn sleep_until(deadline: Instant) {
        sleep_until(deadline).await;
    }
}
