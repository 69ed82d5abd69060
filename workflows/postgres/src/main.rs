//! A small orchestrator of our own on PostgreSQL, which the variant itself starts.
//!
//! A transition is one call of a function in `schema.sql`: it records a step's value, makes
//! whatever may be done now, tells workers and client, and gives the calling worker its next step.
//! That is one round trip and one commit. Started again on the same folder, it goes on where it
//! stopped.

mod rows;
mod session;
mod setup;
mod worker;

use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Hands, Identity, RunError, StepRow, Workload, now_ns,
    panic_text, variant_main,
};

use session::{Answer, Session};
use worker::Shared;
use workflows_database::{Door, Server};

const IDENTITY: Identity =
    Identity { variant: "postgres", measures: "postgresql", version: "installed", features: &[] };

/// How long the client waits before it looks whether the workers are well.
const LOOK_AFTER_WORKERS: Duration = Duration::from_millis(500);

const OPENING: &str = "set plan_cache_mode = force_generic_plan; listen complete";
const ACCEPT: usize = 0;
const LOOK: usize = 1;
const BARE: usize = 2;
const STATEMENTS: &[&str] = &[
    "select * from accept($1, $2, $3)",
    "select coalesce(array_agg(task), '{}') from tasks where task = any($1) and steps_left = 0",
    "update bare set commits = commits + 1 returning commits",
];

fn main() -> ExitCode {
    variant_main::<Orchestrator>(&IDENTITY)
}

/// The client's side. Fields are dropped in order: the server ends last.
struct Orchestrator {
    graph: Arc<Graph>,
    workers: Workers,
    session: Session<'static>,
    /// Tasks that were handed in and are not known to be complete.
    waiting: BTreeSet<u32>,
    /// Tasks that were complete when they were handed in.
    complete: Vec<u32>,
    accepted: HashMap<u32, Accepted>,
    server: Server,
}

/// Threads that are stopped and waited for when dropped.
struct Workers {
    shared: &'static Shared,
    threads: Vec<JoinHandle<()>>,
    door: Door,
}

impl BackEnd for Orchestrator {
    const TAKES_HANDS: bool = true;
    const BARE: Option<&'static str> = Some("bare_commit_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = Path::new(&workload.folder);
        if !folder.is_absolute() || !folder.is_dir() {
            return Err(RunError::setup(format!(
                "folder is {:?}: give the absolute path of a folder that is there",
                workload.folder
            )));
        }
        let server = Server::start(folder)?;
        setup::prepare(&mut server.door().connect()?, workload, graph)?;
        // For the rest of the process: there is one run in it.
        let shared: &'static Shared = Box::leak(Box::default());
        let workers = Workers::start(workload, &server.door(), graph, shared)?;
        let session = Session::open(server.door(), &shared.counts, OPENING, STATEMENTS)?;
        Ok(Self {
            graph: Arc::clone(graph),
            workers,
            session,
            waiting: BTreeSet::new(),
            complete: Vec::new(),
            accepted: HashMap::new(),
            server,
        })
    }

    fn submit(&mut self, task: u32, input: u64, submitted_ns: i64) -> Result<Accepted, RunError> {
        let values = (i64::from(task), input.cast_signed(), submitted_ns);
        let row = loop {
            // Asked twice, it takes the task over once.
            if let Answer::Row(row) =
                self.session.ask(ACCEPT, &[&values.0, &values.1, &values.2])?
            {
                break row;
            }
        };
        let (is_new, submitted_ns): (bool, i64) = (row.get(0), row.get(1));
        // When an earlier run accepted it is not kept.
        let accepted_ns = if is_new { now_ns() } else { submitted_ns };
        if is_new {
            self.workers.shared.counts.commit(1);
        }
        self.waiting.insert(task);
        if row.get(2) {
            self.complete.push(task);
        }
        let accepted = Accepted { submitted_ns, accepted_ns };
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

    fn look(&mut self, _: &[u32]) -> Result<Vec<u32>, RunError> {
        self.workers.shared.check()?;
        let complete = self.look_at_all()?;
        Ok(self.no_longer_waiting(complete))
    }

    fn bare_ns(&mut self) -> Result<Option<u64>, RunError> {
        loop {
            let start_ns = now_ns();
            if let Answer::Row(_) = self.session.uncounted(BARE, &[])? {
                return Ok(Some((now_ns() - start_ns).unsigned_abs()));
            }
        }
    }

    fn counters(&self) -> Counters {
        self.workers.shared.counts.read()
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        let Self { graph, workers, session, accepted, server, .. } = self;
        let shared = workers.shared;
        drop(workers);
        drop(session);
        shared.check()?;
        let recorded = shared.recorded_ns.lock().expect("the workers have ended");
        rows::read(&mut server.door().connect()?, &graph, &accepted, &recorded)
    }
}

impl Orchestrator {
    /// Which of the tasks that are waited for are complete.
    fn look_at_all(&mut self) -> Result<Vec<u32>, RunError> {
        let waiting: Vec<i64> = self.waiting.iter().map(|&task| task.into()).collect();
        loop {
            if let Answer::Row(row) = self.session.ask(LOOK, &[&waiting])? {
                let complete: Vec<i64> = row.get(0);
                return Ok(complete.into_iter().map(|task| task as u32).collect());
            }
        }
    }

    fn no_longer_waiting(&mut self, complete: Vec<u32>) -> Vec<u32> {
        for task in &complete {
            self.waiting.remove(task);
        }
        complete
    }
}

impl Workers {
    fn start(
        workload: &Workload,
        door: &Door,
        graph: &Arc<Graph>,
        shared: &'static Shared,
    ) -> Result<Self, RunError> {
        let mut workers = Self { shared, threads: Vec::new(), door: door.clone() };
        for worker in 0..workload.workers {
            let mut hands = Hands::start(workload)?;
            let (door, graph) = (door.clone(), Arc::clone(graph));
            let thread = std::thread::Builder::new().name(format!("worker-{worker}"));
            let body = move || {
                let result = catch_unwind(AssertUnwindSafe(|| {
                    worker::work(&door, &graph, shared, &mut hands)
                }));
                let panicked =
                    |panic: Box<dyn Any + Send>| Err(RunError::Panicked(panic_text(&*panic)));
                if let Err(error) = result.unwrap_or_else(panicked) {
                    shared.fail(&error);
                }
            };
            workers.threads.push(thread.spawn(body).map_err(RunError::setup)?);
        }
        Ok(workers)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        // Those that wait for work need not wait any longer.
        if let Ok(mut client) = self.door.connect() {
            let _ = client.batch_execute("notify work");
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
