//! The floor: one thread, one readiness loop over plain sockets, no executor and no HTTP library.
//! What a runtime adds, it adds to this.

#![forbid(unsafe_code)]

mod connection;
mod deadlines;

use std::io;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use connection::{Connection, Progress};
use deadlines::Deadlines;
use mio::event::Event;
use mio::{Events, Poll, Token, Waker};
use runtimes_kit::{
    AgentLog, AgentRun, Arrangement, Identity, Ingested, Meter, RunError, Workload, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// The token of the ingest threads; connections have their agent's index.
const INGESTED: Token = Token(usize::MAX);

/// Events that one call of the kernel brings.
const EVENTS: usize = 1024;

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
    stall_timeout: Duration,
    deadlines: Deadlines,
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
        let connections =
            connections.map(|(index, agent)| Connection::new(agent, Token(index))).collect();
        let deadlines = Deadlines::default();
        Ok(Self {
            stall_timeout,
            deadlines,
            poll,
            waker,
            connections,
            ingested,
            ingest,
            unfinished,
        })
    }

    fn run(mut self) -> Result<Vec<AgentLog>, RunError> {
        for index in 0..self.connections.len() {
            match self.connections[index].due() {
                Some(due) => self.deadlines.push(due, index),
                None => self.start(index),
            }
        }
        let mut events = Events::with_capacity(EVENTS);
        let mut buffer = vec![0; 64 << 10];
        let mut now = Instant::now();
        while self.unfinished > 0 {
            // From the reading of the last wake-up: a stall is noticed later by no more than what
            // that wake-up had to do, and nobody reads the clock a second time for it.
            match self.poll.poll(&mut events, self.deadlines.wait(now)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result.map_err(setup)?,
            }
            now = Instant::now();
            for event in &events {
                self.take(event, now, &mut buffer)?;
            }
            self.check_stalls(now)?;
        }
        Ok(self.connections.into_iter().map(Connection::into_log).collect())
    }

    fn take(&mut self, event: &Event, now: Instant, buffer: &mut [u8]) -> Result<(), RunError> {
        if event.token() == INGESTED {
            return self.take_ingested(now);
        }
        let connection = &mut self.connections[event.token().0];
        let closing = event.is_read_closed() || event.is_error();
        let progress = connection.ready(self.poll.registry(), now, closing, buffer)?;
        self.unfinished -= usize::from(progress == Progress::Finished);
        Ok(())
    }

    /// Looks at those alone whose entry is due.
    fn check_stalls(&mut self, now: Instant) -> Result<(), RunError> {
        while let Some(index) = self.deadlines.pop_due(now) {
            let connection = &self.connections[index];
            match connection.deadline(self.stall_timeout) {
                Some(deadline) if deadline <= now => return Err(connection.stalled()),
                Some(deadline) => self.deadlines.push(deadline, index),
                None if !connection.has_started() => self.start(index),
                None => {}
            }
        }
        Ok(())
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

    fn take_ingested(&mut self, now: Instant) -> Result<(), RunError> {
        while let Ok((index, result)) = self.ingested.try_recv() {
            let connection = &mut self.connections[index];
            let progress = connection.ingested(self.poll.registry(), now, result)?;
            if let Some(deadline) = connection.deadline(self.stall_timeout) {
                self.deadlines.push(deadline, index);
            }
            self.unfinished -= usize::from(progress == Progress::Finished);
        }
        Ok(())
    }
}

fn setup(error: io::Error) -> RunError {
    RunError::setup(error)
}
