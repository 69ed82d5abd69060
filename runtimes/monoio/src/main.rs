//! monoio on one thread over plain sockets: the kernel fills a buffer and says that it is done
//! (`io_uring`), in place of saying that there is something to read. Where a process may not use
//! that, monoio waits on epoll; the counter `io_uring` says which it was.

#![forbid(unsafe_code)]

use std::io::{self, ErrorKind};
use std::net::ToSocketAddrs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use monoio::blocking::DefaultThreadPool;
use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::TcpStream;
use monoio::time::{TimeDriver, sleep_until};
use monoio::{FusionDriver, FusionRuntime, IoUringDriver, LegacyDriver, RuntimeBuilder};
use runtimes_connection::{Connection, Transport};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// Folders that are read at a time, at most: the pool starts its threads before there is work.
const BLOCKING_THREADS: usize = 64;

type Runtime = FusionRuntime<TimeDriver<IoUringDriver>, TimeDriver<LegacyDriver>>;

fn main() -> ExitCode {
    variant_main(&IDENTITY, |workload, meter| {
        let mut runtime = runtime(workload.agents.len().min(BLOCKING_THREADS))?;
        meter.io_uring(matches!(runtime, FusionRuntime::Uring(_)));
        runtime.block_on(run(workload, meter))
    })
}

fn runtime(blocking_threads: usize) -> Result<Runtime, RunError> {
    let pool = || Box::new(DefaultThreadPool::new(blocking_threads));
    let best = RuntimeBuilder::<FusionDriver>::new().attach_thread_pool(pool());
    best.enable_timer().build().or_else(|uring| {
        // There is `io_uring`, but not for this process: for want of locked memory, for example.
        let epoll = RuntimeBuilder::<LegacyDriver>::new().attach_thread_pool(pool());
        let epoll = epoll.enable_timer().build().map(FusionRuntime::from);
        epoll.map_err(|epoll| {
            let sentence = "the kernel gives this process no io_uring";
            RunError::unsupported(format!("{sentence} ({uring}) and no epoll ({epoll})"))
        })
    })
}

async fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    let agents = AgentRun::all(&workload, &meter).into_iter();
    let agents = agents.map(|agent| drive(agent, stall_timeout));
    let mut logs = Vec::new();
    match workload.arrangement {
        Arrangement::Concurrent => {
            let tasks: Vec<_> = agents.map(monoio::spawn).collect();
            for task in tasks {
                logs.push(task.await?);
            }
        }
        Arrangement::Solo => {
            for agent in agents {
                logs.push(monoio::spawn(agent).await?);
            }
        }
    }
    Ok(logs)
}

async fn drive(mut agent: AgentRun, stall_timeout: Duration) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        sleep_until(due.into()).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = monoio::spawn_blocking(|| job.run()).await;
    agent.ingested(ingested.expect("reading a folder does not panic"))?;
    let mut connection = Connection::<MonoioTransport>::new(stall_timeout);
    while let Some(request) = agent.next_request() {
        connection.call(&mut agent, &request).await?;
    }
    Ok(agent.finish())
}

struct MonoioTransport(TcpStream);

impl Transport for MonoioTransport {
    /// monoio's own `connect` tries one address of a host.
    async fn connect(authority: &str, _: Duration) -> io::Result<Self> {
        let mut last = ErrorKind::AddrNotAvailable.into();
        for address in authority.to_socket_addrs()? {
            match TcpStream::connect_addr(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Self(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn write_all(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.0.write_all(bytes).await.0.map(drop)
    }

    async fn read(&mut self, buffer: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        self.0.read(buffer).await
    }

    fn sleep_until(deadline: Instant) -> impl Future<Output = ()> {
        sleep_until(deadline.into())
    }
}
