//! An orchestrator of our own that keeps its state in PostgreSQL and hands steps to workers through
//! RabbitMQ, both started by the variant itself.
//!
//! A transition is one call of a function in `schema.sql`, which is one commit; what may be done
//! then is published, a persistent message for each step, and the broker gives it to a worker that
//! has nothing else to do. A worker is done with a message when what follows from it is confirmed.
//! So a message may come twice and the database records a step once. Started again on the same
//! folder, the steps without a value are published again (an outbox), and it goes on.
//!
//! Workers are threads of this process ([`threads`]) or in processes of their own ([`member`]); the
//! client orchestrates in either case.

#![forbid(unsafe_code)]

mod broker;
mod kept;
mod link;
mod member;
mod threads;
mod worker;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use workflows_database::{
    Answer, ENVIRONMENT, Known, POSTGRESQL, Server, Session, named, prepare, read,
};
use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Identity, RunError, StepRow, Submission, Workload, keep_up,
    language, now_ns, run_folder, variant_main,
};

use broker::Broker;
use kept::RABBITMQ;
use link::{Link, Lost, Reads, STEPS};
use member::Member;
use threads::Threads;
use worker::Shared;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// How long the client waits before it looks whether the workers are well.
const LOOK_AFTER_WORKERS: Duration = Duration::from_millis(500);

const SCHEMA: &str = include_str!("schema.sql");

const ACCEPT: &str = "select * from accept($1, $2, $3, $4)";
const LOOK: &str =
    "select coalesce(array_agg(task), '{}') from tasks where task = any($1) and steps_left = 0";
const BARE: &str = "update bare set commits = commits + 1 returning commits";
const OPEN: &str = "select open_messages(null)";

fn main() -> ExitCode {
    if member::is_one() {
        return member::process();
    }
    let kept = keep_up(&[POSTGRESQL, RABBITMQ]);
    kept.unwrap_or_else(|| variant_main::<Orchestrator>(&IDENTITY))
}

/// The client's side. Fields are dropped in order: the servers end last.
struct Orchestrator {
    graph: Arc<Graph>,
    workers: Threads,
    /// Processes with workers, where these are no threads. Nobody else looks while it is borrowed:
    /// the client is one thread.
    members: RefCell<Vec<Member>>,
    /// What those had counted that were killed, when they were last asked.
    gone: [u64; 4],
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

impl BackEnd for Orchestrator {
    const TAKES_COMPUTER: bool = true;
    const TAKES_PROCESSES: bool = true;
    const BARE: Option<&'static str> = Some("bare_commit_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = run_folder(workload)?;
        let server = Server::start(folder)?;
        prepare(&server.handle(), SCHEMA, workload, graph)?;
        let broker = Broker::start(folder)?;
        // For the rest of the process: there is one run in it.
        let shared: &'static Shared = Box::leak(Box::default());
        let texts = &[ACCEPT, LOOK, BARE, OPEN];
        let session = Session::open(server.handle(), &shared.counts, ENVIRONMENT, texts)?;
        let link = Link::open(&(server.handle(), broker.handle()), Reads::Complete)?;
        let mut orchestrator = Self {
            graph: Arc::clone(graph),
            workers: Threads::new(shared),
            members: RefCell::default(),
            gone: [0; 4],
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
            self.check()?;
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
        self.check()?;
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

    fn servers(&self) -> Vec<u32> {
        self.broker.kept_process().into_iter().chain(self.server.kept_process()).collect()
    }

    fn counters(&self) -> Counters {
        let mut sums = add(self.workers.shared.counts.numbers(), self.gone);
        for member in self.members.borrow_mut().iter_mut() {
            sums = add(sums, member.counts());
        }
        named(sums)
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        let Self { graph, workers, members, session, link, accepted, server, .. } = self;
        let shared = workers.shared;
        let apart: Vec<_> = members.into_inner().into_iter().map(Member::finish).collect();
        drop((workers, session, link));
        shared.check()?;
        let mut recorded = shared.recorded_ns.lock().expect("the workers have ended");
        recorded.extend(apart.into_iter().flatten());
        let known = Known { accepted, recorded_ns: std::mem::take(&mut recorded) };
        read(&server.handle(), &graph, &known)
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
        let handles = (self.server.handle(), self.broker.handle());
        if workload.processes == 0 {
            return self.workers.start(workload, &self.graph, &handles, |_| {});
        }
        for number in 0..workload.processes {
            // The first have one more where they cannot have as many each.
            let more = u32::from(number < workload.workers % workload.processes);
            let workers = (workload.workers / workload.processes + more).max(1);
            let worker = language(workload.worker, number);
            let share = Workload { workers, worker, ..workload.clone() };
            self.members.get_mut().push(Member::start(&share, &handles.1)?);
        }
        Ok(())
    }

    /// Whether the workers are well. A process that was killed is forgotten, but not the last.
    fn check(&mut self) -> Result<(), RunError> {
        self.workers.shared.check()?;
        let members = self.members.get_mut();
        let (before, gone) = (members.len(), &mut self.gone);
        let mut failure = Ok(());
        members.retain_mut(|member| {
            let lives = member.lives().unwrap_or_else(|error| {
                failure = Err(error);
                false
            });
            if !lives {
                *gone = add(*gone, member.counted());
            }
            lives
        });
        failure?;
        if before > 0 && members.is_empty() {
            return Err(self.server.handle().failed("the last worker process has ended"));
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
        self.workers.shared.counts.reconnected(&lost.to_string())?;
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

fn add(one: [u64; 4], other: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|place| one[place] + other[place])
}
