//! The floor: one thread, one readiness loop over plain sockets, no executor and no HTTP library.
//! What a runtime adds, it adds to this.

mod connection;

use std::io;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use connection::{Connection, Progress};
use mio::{Events, Poll, Token, Waker};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Ingested, Meter, RunError, Workload, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// The token of the ingest threads; connections have their agent's index.
const INGESTED: Token = Token(usize::MAX);

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

fn run(workload: Workload, meter: Arc<Meter>) -> Result<Vec<AgentLog>, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    let agents = AgentRun::all(&workload, &meter);
    let groups: Vec<Vec<AgentRun>> = match workload.arrangement {
        Arrangement::Concurrent => vec![agents],
        Arrangement::Solo => agents.into_iter().map(|agent| vec![agent]).collect(),
    };
    let mut logs = Vec::new();
    for group in groups {
        logs.extend(EventLoop::new(group, stall_timeout).map_err(setup)?.run()?);
    }
    Ok(logs)
}

struct EventLoop {
    poll: Poll,
    waker: Arc<Waker>,
    connections: Vec<Connection>,
    ingested: mpsc::Receiver<(usize, io::Result<Ingested>)>,
    ingest: mpsc::Sender<(usize, io::Result<Ingested>)>,
    unfinished: usize,
}

impl EventLoop {
    fn new(agents: Vec<AgentRun>, stall_timeout: Duration) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), INGESTED)?);
        let (ingest, ingested) = mpsc::channel();
        let unfinished = agents.len();
        let connections = agents.into_iter().enumerate();
        let connections = connections
            .map(|(index, agent)| Connection::new(agent, Token(index), stall_timeout))
            .collect();
        Ok(Self { poll, waker, connections, ingested, ingest, unfinished })
    }

    fn run(mut self) -> Result<Vec<AgentLog>, RunError> {
        for index in 0..self.connections.len() {
            self.start(index);
        }
        let mut events = Events::with_capacity(256);
        let mut buffer = vec![0; 64 << 10];
        while self.unfinished > 0 {
            let now = Instant::now();
            let deadline = self.connections.iter().filter_map(Connection::deadline).min();
            let timeout = deadline.map(|deadline| deadline.saturating_duration_since(now));
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result.map_err(setup)?,
            }
            for event in &events {
                if event.token() == INGESTED {
                    self.take_ingested()?;
                } else {
                    let connection = &mut self.connections[event.token().0];
                    let closing = event.is_read_closed() || event.is_error();
                    let registry = self.poll.registry();
                    let progress = connection.ready(registry, closing, &mut buffer)?;
                    self.unfinished -= usize::from(progress == Progress::Finished);
                }
            }
            self.connections.iter().try_for_each(Connection::check_deadline)?;
        }
        Ok(self.connections.into_iter().map(Connection::into_log).collect())
    }

    /// Starts an agent: its folder is read on a thread of its own, which wakes the loop.
    fn start(&mut self, index: usize) {
        let job = self.connections[index].start();
        let (ingest, waker) = (self.ingest.clone(), Arc::clone(&self.waker));
        thread::spawn(move || {
            // Either fails only when the loop is gone, and then nobody asks.
            let _ = ingest.send((index, job.run()));
            let _ = waker.wake();
        });
    }

    fn take_ingested(&mut self) -> Result<(), RunError> {
        while let Ok((index, result)) = self.ingested.try_recv() {
            let progress = self.connections[index].ingested(self.poll.registry(), result)?;
            self.unfinished -= usize::from(progress == Progress::Finished);
        }
        Ok(())
    }
}

fn setup(error: io::Error) -> RunError {
    RunError::setup(error)
}
