//! The client of a run whose workers are threads of this process.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use workflows_database::{ENVIRONMENT, Handle, Known, Session, named};
use workflows_kit::{Accepted, Counters, Graph, RunError, Submission, Workload};

use crate::Tasks;
use crate::statements::{ACCEPT, BARE, LOOK, accept, bare_ns, complete_of};
use crate::threads::Threads;
use crate::worker::{Shared, look_after};

/// How long the client waits before it looks whether the workers are well.
const LOOK_AFTER_WORKERS: Duration = Duration::from_millis(500);

pub(crate) struct Client {
    workers: Threads,
    session: Session<'static>,
    /// Tasks that were handed in and are not known to be complete.
    waiting: BTreeSet<u32>,
    /// Tasks of whose end was heard and nobody has asked.
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
        let shared = Shared::new(|_| {}, None, look_after(workload));
        let shared: &'static Shared = Box::leak(Box::new(shared));
        let workers = Threads::start(workload, handle, graph, shared)?;
        let texts = &[ACCEPT, LOOK, BARE];
        let session = Session::open(handle.clone(), &shared.counts, ENVIRONMENT, texts)?;
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
        complete_of(&mut self.session, &self.waiting)
    }

    /// Those of them that were waited for: one may be of an earlier run, or be heard of twice.
    fn no_longer_waiting(&mut self, complete: Vec<u32>) -> Vec<u32> {
        complete.into_iter().filter(|task| self.waiting.remove(task)).collect()
    }
}

impl Tasks for Client {
    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        let answers = accept(&mut self.session, tasks)?;
        self.workers.shared.waiting.call(tasks.len());
        for (one, &(accepted, is_complete)) in tasks.iter().zip(&answers) {
            self.waiting.insert(one.task);
            self.accepted.insert(one.task, accepted);
            if is_complete {
                self.complete.push(one.task);
            }
        }
        Ok(answers.into_iter().map(|(accepted, _)| accepted).collect())
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        loop {
            self.workers.shared.check()?;
            let known = std::mem::take(&mut self.complete);
            let known = self.no_longer_waiting(known);
            if !known.is_empty() {
                return Ok(known);
            }
            let ends = self.workers.shared.waiting.hear(LOOK_AFTER_WORKERS);
            self.complete = if ends.doubt { self.look_at_all()? } else { ends.complete };
        }
    }

    fn look(&mut self) -> Result<Vec<u32>, RunError> {
        self.workers.shared.check()?;
        let complete = self.look_at_all()?;
        Ok(self.no_longer_waiting(complete))
    }

    fn bare_ns(&mut self) -> Result<u64, RunError> {
        bare_ns(&mut self.session)
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
