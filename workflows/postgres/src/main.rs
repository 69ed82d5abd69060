//! A small orchestrator of our own on PostgreSQL, which the variant itself starts.
//!
//! A transition is one call of a function in `schema.sql`: it records the values of the steps that
//! a worker has done, makes whatever may be done now, and gives the worker its next steps. That is
//! one round trip and one commit; where steps are short and many, it is so for many of them.
//! Started again on the same folder, it goes on where it stopped.
//!
//! Everything is in the database, so workers and those who take tasks over may be threads of this
//! process ([`client`]) or processes of their own ([`cluster`]). Who waits is told when a commit
//! has returned: within a process directly ([`waiting`]), beyond it by notifications ([`outbox`]).

#![forbid(unsafe_code)]

mod client;
mod cluster;
mod outbox;
mod statements;
mod threads;
mod waiting;
mod worker;

use std::process::ExitCode;
use std::sync::Arc;

use workflows_database::{Known, POSTGRESQL, Server, prepare, read};
use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Identity, RunError, StepRow, Submission, Workload, keep_up,
    run_folder, variant_main,
};

use client::Client;
use cluster::Cluster;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

const SCHEMA: &str = include_str!("schema.sql");

fn main() -> ExitCode {
    match cluster::role() {
        Some(role) => cluster::process(role),
        None => keep_up(&[POSTGRESQL]).unwrap_or_else(|| variant_main::<Postgres>(&IDENTITY)),
    }
}

/// Whoever hands tasks in, is told of completion, and knows what the database does not keep.
///
/// Its methods are those of [`BackEnd`] with the same names.
trait Tasks {
    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError>;
    fn wait(&mut self) -> Result<Vec<u32>, RunError>;
    fn look(&mut self) -> Result<Vec<u32>, RunError>;
    fn bare_ns(&mut self) -> Result<u64, RunError>;
    fn counters(&self) -> Counters;

    /// Ends all workers.
    fn finish(self: Box<Self>) -> Result<Known, RunError>;
}

/// Fields are dropped in order: the server ends last.
struct Postgres {
    graph: Arc<Graph>,
    tasks: Box<dyn Tasks>,
    server: Server,
}

impl BackEnd for Postgres {
    const TAKES_COMPUTER: bool = true;
    const TAKES_PROCESSES: bool = true;
    const TAKES_HTTP: bool = true;
    const TAKES_FALLBACK: bool = true;
    const BARE: Option<&'static str> = Some("bare_commit_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = run_folder(workload)?;
        let server = Server::start(folder)?;
        prepare(&server.handle(), SCHEMA, workload, graph)?;
        let tasks: Box<dyn Tasks> = match workload.processes {
            0 => Box::new(Client::start(workload, &server.handle(), graph)?),
            _ => Box::new(Cluster::start(workload, server.handle())?),
        };
        Ok(Self { graph: Arc::clone(graph), tasks, server })
    }

    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        self.tasks.submit(tasks)
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        self.tasks.wait()
    }

    fn look(&mut self, _: &[u32]) -> Result<Vec<u32>, RunError> {
        self.tasks.look()
    }

    fn bare_ns(&mut self) -> Result<Option<u64>, RunError> {
        self.tasks.bare_ns().map(Some)
    }

    fn servers(&self) -> Vec<u32> {
        self.server.kept_process().into_iter().collect()
    }

    fn counters(&self) -> Counters {
        self.tasks.counters()
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        let Self { graph, tasks, server } = self;
        let known = tasks.finish()?;
        read(&server.handle(), &graph, &known)
    }
}
