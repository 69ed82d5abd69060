//! The client of a run whose workers are threads of this process.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use workflows_database::{Handle, Known};
use workflows_kit::{Accepted, Counters, Graph, RunError, Workload};

use crate::Tasks;
use crate::session::{ACCEPT, BARE, LOOK, Session, named};
use crate::threads::Threads;
use crate::worker::Shared;

/// How long the client waits before it looks whether the workers are well.
const LOOK_AFTER_WORKERS: Duration = Duration::from_millis(500);

const OPENING: &str = "set plan_cache_mode = force_generic_plan; listen complete";

pub(crate) struct Client {
    workers: Threads,
    session: Session<'static>,
    /// Tasks that were handed in and are not known to be complete.
    waiting: BTreeSet<u32>,
    /// Tasks that were complete when they were handed in.
    complete: Vec<u32>,
    accepted: HashMap<u32, Accepted>,
}

impl Client {
    /// Starts the workers, and opens the client's own session.
    ///
    /// # Errors
    /// The database is lost, or as `Computer::start`.
    pub(crate) fn start(
        workload: &Workload,
        handle: &Handle,
        graph: &Arc<Graph>,
    ) -> Result<Self, RunError> {
        // For the rest of the process: there is one run in it.
        let shared: &'static Shared = Box::leak(Box::new(Shared::new(|_| {})));
        let workers = Threads::start(workload, handle, graph, shared)?;
        let session =
            Session::open(handle.clone(), &shared.counts, OPENING, &[ACCEPT, LOOK, BARE])?;
        Ok(Self {
            workers,
            session,
            waiting: BTreeSet::new(),
            complete: Vec::new(),
            accepted: HashMap::new(),
        })
    }

    /// Which of the tasks that are waited for are complete.
    fn look_at_all(&mut self) -> Result<Vec<u32>, RunError> {
        self.session.complete_of(&self.waiting)
    }

    fn no_longer_waiting(&mut self, complete: Vec<u32>) -> Vec<u32> {
        for task in &complete {
            self.waiting.remove(task);
        }
        complete
    }
}

impl Tasks for Client {
    fn submit(&mut self, task: u32, input: u64, submitted_ns: i64) -> Result<Accepted, RunError> {
        let (accepted, is_complete) = self.session.accept(task, input, submitted_ns)?;
        self.waiting.insert(task);
        if is_complete {
            self.complete.push(task);
        }
        self.accepted.insert(task, accepted);
        Ok(accepted)
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        loop {
            self.workers.shared.check()?;
            let known = std::mem::take(&mut self.complete);
            if !known.is_empty() {
                return Ok(self.no_longer_waiting(known));
            }
            let mut messages = self.session.client.notifications();
            let message = messages.timeout_iter(LOOK_AFTER_WORKERS).next();
            drop(messages);
            match message {
                Ok(Some(message)) => {
                    let task = message.payload().parse::<u32>().map_err(RunError::failed)?;
                    return Ok(self.no_longer_waiting(vec![task]));
                }
                Ok(None) => {}
                Err(error) => {
                    self.session.lost_or(&error)?;
                    self.complete = self.look_at_all()?;
                }
            }
        }
    }

    fn look(&mut self) -> Result<Vec<u32>, RunError> {
        self.workers.shared.check()?;
        let complete = self.look_at_all()?;
        Ok(self.no_longer_waiting(complete))
    }

    fn bare_ns(&mut self) -> Result<u64, RunError> {
        self.session.bare_ns()
    }

    fn counters(&self) -> Counters {
        named(self.workers.shared.counts.numbers())
    }

    fn finish(self: Box<Self>) -> Result<Known, RunError> {
        let Self { workers, session, accepted, .. } = *self;
        let shared = workers.shared;
        drop(workers);
        drop(session);
        shared.check()?;
        Ok(Known { accepted, recorded_ns: shared.take_recorded() })
    }
}
