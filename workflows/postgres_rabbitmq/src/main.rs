//! An orchestrator of our own that keeps its state in PostgreSQL and hands steps to workers through
//! RabbitMQ, both started by the variant itself.
//!
//! A transition is one call of a function in `schema.sql`, which is one commit; what may be done
//! then is published, a persistent message for each step, and the broker gives it to a worker that
//! has nothing else to do. A worker is done with a message when what follows from it is confirmed.
//! So a message may come twice and the database records a step once. Started again on the same
//! folder, the steps without a value are published again (an outbox), and it goes on.

mod broker;
mod link;
mod session;
mod worker;

use std::collections::{BTreeSet, HashMap};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Duration;

use workflows_database::{Known, Server, prepare, read};
use workflows_kit::{
    Accepted, BackEnd, Computer, Counters, Graph, Identity, RunError, StepRow, Submission,
    Workload, caught, now_ns, run_folder, variant_main,
};

use broker::Broker;
use link::{Link, Lost, Reads, STEPS};
use session::{Answer, Session};
use worker::Shared;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// How long the client waits before it looks whether the workers are well.
const LOOK_AFTER_WORKERS: Duration = Duration::from_millis(500);

const SCHEMA: &str = include_str!("schema.sql");

const ACCEPT: usize = 0;
const LOOK: usize = 1;
const BARE: usize = 2;
const OPEN: usize = 3;
const STATEMENTS: &[&str] = &[
    "select * from accept($1, $2, $3, $4)",
    "select coalesce(array_agg(task), '{}') from tasks where task = any($1) and steps_left = 0",
    "update bare set commits = commits + 1 returning commits",
    "select open_messages(null)",
];

fn main() -> ExitCode {
    variant_main::<Orchestrator>(&IDENTITY)
}

/// The client's side. Fields are dropped in order: the servers end last.
struct Orchestrator {
    graph: Arc<Graph>,
    workers: Workers,
    session: Session<'static>,
    link: Link,
    /// Tasks that were handed in and are not known to be complete.
    waiting: BTreeSet<u32>,
    /// Tasks that were found complete, and not by a message.
    complete: Vec<u32>,
    accepted: HashMap<u32, Accepted>,
    broker: Broker,
    server: Server,
}

/// Threads that are stopped and waited for when dropped.
struct Workers {
    shared: &'static Shared,
    threads: Vec<JoinHandle<()>>,
}

impl BackEnd for Orchestrator {
    const TAKES_COMPUTER: bool = true;
    const BARE: Option<&'static str> = Some("bare_commit_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = run_folder(workload)?;
        let server = Server::start(folder)?;
        prepare(&mut server.handle().connect()?, SCHEMA, workload, graph)?;
        let broker = Broker::start(folder)?;
        // For the rest of the process: there is one run in it.
        let shared: &'static Shared = Box::leak(Box::default());
        let session = Session::open(server.handle(), &shared.counts, STATEMENTS)?;
        let link = Link::open(&broker.handle(), Reads::Complete)?;
        let mut orchestrator = Self {
            graph: Arc::clone(graph),
            workers: Workers { shared, threads: Vec::new() },
            session,
            link,
            waiting: BTreeSet::new(),
            complete: Vec::new(),
            accepted: HashMap::new(),
            broker,
            server,
        };
        orchestrator.sweep()?;
        orchestrator.start_workers(workload)?;
        Ok(orchestrator)
    }

    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        tasks.iter().map(|one| self.accept(one)).collect()
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        loop {
            self.workers.shared.check()?;
            let known = std::mem::take(&mut self.complete);
            let known = self.no_longer_waiting(known);
            if !known.is_empty() {
                return Ok(known);
            }
            match self.link.receive(LOOK_AFTER_WORKERS) {
                Ok(Some(message)) => {
                    let task = message.body.parse::<u32>().map_err(RunError::failed)?;
                    self.complete.push(task);
                }
                Ok(None) => {}
                Err(lost) => self.reopen(&lost)?,
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
        let Self { graph, workers, session, link, accepted, server, .. } = self;
        let shared = workers.shared;
        drop((workers, session, link));
        shared.check()?;
        let mut recorded = shared.recorded_ns.lock().expect("the workers have ended");
        let known = Known { accepted, recorded_ns: std::mem::take(&mut recorded) };
        read(&mut server.handle().connect()?, &graph, &known)
    }
}

impl Orchestrator {
    /// Publishes what an earlier run left to be done. Its own messages may be in the queue too.
    fn sweep(&mut self) -> Result<(), RunError> {
        loop {
            if let Answer::Row(row) = self.session.uncounted(OPEN, &[])? {
                return self.publish(row.get(0));
            }
        }
    }

    fn start_workers(&mut self, workload: &Workload) -> Result<(), RunError> {
        let shared = self.workers.shared;
        for worker in 0..workload.workers {
            let mut computer = Computer::start(workload)?;
            let handles = (self.server.handle(), self.broker.handle());
            let graph = Arc::clone(&self.graph);
            let body = move || {
                if let Err(error) = caught(|| worker::work(&handles, &graph, shared, &mut computer))
                {
                    shared.fail(&error);
                }
            };
            let thread = std::thread::Builder::new().name(format!("worker-{worker}"));
            self.workers.threads.push(thread.spawn(body).map_err(RunError::setup)?);
        }
        Ok(())
    }

    /// Takes a task over, and publishes its first steps.
    fn accept(&mut self, one: &Submission) -> Result<Accepted, RunError> {
        let &Submission { task, input, submitted_ns } = one;
        let values = (i64::from(task), input.cast_signed(), submitted_ns);
        let mut again = false;
        let row = loop {
            // Asked twice, it takes the task over once.
            match self.session.ask(ACCEPT, &[&values.0, &values.1, &values.2, &again])? {
                Answer::Row(row) => break row,
                Answer::Reconnected => again = true,
            }
        };
        let (is_new, submitted_ns): (bool, i64) = (row.get("is_new"), row.get("submitted_ns"));
        // When an earlier run accepted it is not kept.
        let accepted_ns = if is_new { now_ns() } else { submitted_ns };
        if is_new {
            self.workers.shared.counts.commit();
        }
        self.waiting.insert(task);
        if row.get("complete") {
            self.complete.push(task);
        }
        self.publish(row.get("ready"))?;
        let accepted = Accepted { submitted_ns, accepted_ns };
        self.accepted.insert(task, accepted);
        Ok(accepted)
    }

    /// Publishes steps, again if the connection is lost on the way.
    fn publish(&mut self, steps: Vec<String>) -> Result<(), RunError> {
        loop {
            self.workers.shared.counts.messages(steps.len() as u64);
            let messages = steps.iter().map(|body| (STEPS, body.clone())).collect();
            match self.link.publish(messages) {
                Ok(()) => return Ok(()),
                Err(lost) => self.reopen(&lost)?,
            }
        }
    }

    /// Opens the connection again. Completions that were on their way to it are gone.
    fn reopen(&mut self, lost: &Lost) -> Result<(), RunError> {
        self.workers.shared.counts.reconnected()?;
        self.link.reopen(lost)?;
        let complete = self.look_at_all()?;
        self.complete.extend(complete);
        Ok(())
    }

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

    /// Those of them that were waited for: a message may be of an earlier run, or come twice.
    fn no_longer_waiting(&mut self, complete: Vec<u32>) -> Vec<u32> {
        complete.into_iter().filter(|task| self.waiting.remove(task)).collect()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
