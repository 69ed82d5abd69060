//! No runtime: one thread an agent, which blocks in each read of its plain socket. The kernel's
//! scheduler is the executor, and its read timeout is the timer.

#![forbid(unsafe_code)]

use std::future::pending;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use runtimes_connection::{Connection, Transport};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Meter, RunError, Workload, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// Enough for a line's parser and for the C library's search for a host; of 10,000 such stacks the
/// addresses take 1.2 GiB, and memory takes what was touched.
const STACK_BYTES: usize = 128 << 10;

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    let agents = AgentRun::all(&workload, &meter);
    let count = agents.len();
    let started = |(index, agent)| start(agent, stall_timeout, index, count);
    let threads = agents.into_iter().enumerate().map(started);
    match workload.arrangement {
        Arrangement::Concurrent => {
            let threads: Result<Vec<_>, RunError> = threads.collect();
            threads?.into_iter().map(ended).collect()
        }
        Arrangement::Solo => threads.map(|thread| ended(thread?)).collect(),
    }
}

type AgentThread = JoinHandle<Result<AgentLog, RunError>>;

fn start(
    agent: AgentRun,
    stall_timeout: Duration,
    index: usize,
    count: usize,
) -> Result<AgentThread, RunError> {
    let thread = Builder::new().stack_size(STACK_BYTES).spawn(move || drive(agent, stall_timeout));
    thread.map_err(|error| {
        let number = index + 1;
        RunError::failed(format!("cannot start thread {number} of {count}: {error}"))
    })
}

fn ended(thread: AgentThread) -> Result<AgentLog, RunError> {
    thread.join().unwrap_or_else(|panic| Err(RunError::panicked(&*panic)))
}

fn drive(mut agent: AgentRun, stall_timeout: Duration) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    agent.start();
    let ingested = agent.ingest_job().run();
    agent.ingested(ingested)?;
    let mut connection = Connection::<BlockingTransport>::new(stall_timeout);
    while let Some(request) = agent.next_request() {
        at_once(connection.call(&mut agent, &request))?;
    }
    Ok(agent.finish())
}

/// What a future gives that blocks its thread in place of waiting.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("reads and writes block, and nobody waits for the timer"),
    }
}

struct BlockingTransport(TcpStream);

impl Transport for BlockingTransport {
    async fn connect(authority: &str, stall_timeout: Duration) -> io::Result<Self> {
        let mut last = ErrorKind::AddrNotAvailable.into();
        for address in authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, stall_timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(stall_timeout))?;
                    stream.set_write_timeout(Some(stall_timeout))?;
                    return Ok(Self(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn write_all(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.0.write_all(&bytes).map_err(timed_out)
    }

    async fn read(&mut self, mut buffer: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        loop {
            match self.0.read(&mut buffer) {
                // A process that was stopped and goes on: signal(7), sockets with a timeout.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return (read.map_err(timed_out), buffer),
            }
        }
    }

    fn sleep_until(_: Instant) -> impl Future<Output = ()> {
        pending()
    }
}

/// Linux says of a socket's timeout that the call would block.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}
