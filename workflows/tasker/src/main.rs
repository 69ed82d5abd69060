//! tasker on a PostgreSQL of the run's own: its orchestrator, and a worker of it whose only handler
//! does the lab's operations: one in Rust (`tools/tasker/host`), or tasker's own in Python, which
//! calls the same crates and asks them every 10 ms for steps. This process hands tasks in by
//! tasker's HTTP interface, and is told of their completion by a trigger on tasker's table, for
//! tasker itself tells nobody; where the client looks, it asks that interface as the published
//! bench did.
//!
//! tasker's own recovery is not measured: a folder that an earlier run has used is refused.

#![forbid(unsafe_code)]

mod http;
mod programs;
mod tables;
mod template;

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use workflows_database::{POSTGRESQL, Server};
use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Identity, RunError, StepRow, Submission, Worker, Workload,
    keep_up, now_ns, variant_main,
};
use workflows_peer::empty_folder;

use http::Api;
use programs::Programs;
use tables::Tables;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// Names the folder that `tools/peer tasker up` has filled.
const FOLDER: &str = "LAB_TASKER";
/// Between two looks whether tasker's processes are still there.
const LOOK: Duration = Duration::from_secs(1);
/// A minute of these: a peer that hangs must not hang the lab.
const LOOKS: u32 = 60;

fn main() -> ExitCode {
    keep_up(&[POSTGRESQL]).unwrap_or_else(|| variant_main::<Tasker>(&IDENTITY))
}

/// Fields are dropped in order: the server ends last.
struct Tasker {
    api: Api,
    /// tasker's numbers of tasks that are not known to be complete.
    tasks: BTreeMap<u32, String>,
    programs: Programs,
    tables: Tables,
    server: Server,
}

impl BackEnd for Tasker {
    const OWN_WORKERS: &'static [Worker] = &[Worker::PythonFfi];

    const BARE: Option<&'static str> = Some("bare_commit_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let run = empty_folder(workload)?;
        let template = template::of(graph.shape())?;
        let missing = || {
            RunError::unsupported(format!(
                "there is no tasker: tools/peer tasker up builds it, and prints what to put into \
                 {FOLDER}"
            ))
        };
        let installed = env::var_os(FOLDER).map(PathBuf::from).ok_or_else(missing)?;
        if !Programs::are_in(&installed, workload.worker) {
            return Err(missing());
        }
        let server = Server::start(run)?;
        let tables = Tables::make(&server.handle(), &installed, workload.poll_ms == 0)?;
        let programs = Programs::start(&installed, run, &server, &template, workload)?;
        let api = Api::open(programs.address())?;
        Ok(Self { api, tasks: BTreeMap::new(), programs, tables, server })
    }

    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        let submit = |&Submission { task, input, submitted_ns }: &Submission| {
            let number = self.api.submit(task, input)?;
            let accepted_ns = now_ns();
            self.tasks.insert(task, number);
            Ok(Accepted { submitted_ns, accepted_ns })
        };
        tasks.iter().map(submit).collect()
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        for _ in 0..LOOKS {
            if let Some((number, state)) = self.tables.told(LOOK)? {
                let found = self.tasks.iter().find(|(_, known)| **known == number);
                let task = found.map(|(task, _)| *task).ok_or_else(|| {
                    RunError::failed(format!("tasker tells of task {number}, which is not ours"))
                })?;
                if state != "complete" {
                    return Err(RunError::failed(format!("tasker leaves task {task} as {state}")));
                }
                self.tasks.remove(&task);
                return Ok(vec![task]);
            }
            self.programs.check()?;
        }
        Err(RunError::failed(format!("tasker completes nothing for {LOOKS} s")))
    }

    fn look(&mut self, waiting: &[u32]) -> Result<Vec<u32>, RunError> {
        self.programs.check()?;
        let mut complete = Vec::new();
        for task in waiting {
            if self.api.is_complete(&self.tasks[task])? {
                self.tasks.remove(task);
                complete.push(*task);
            }
        }
        Ok(complete)
    }

    fn bare_ns(&mut self) -> Result<Option<u64>, RunError> {
        self.tables.bare_ns().map(Some)
    }

    fn servers(&self) -> Vec<u32> {
        self.server.kept_process().into_iter().collect()
    }

    fn counters(&self) -> Counters {
        self.tables.counters()
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        let Self { programs, tables, server, .. } = self;
        drop(programs);
        let rows = tables.rows();
        drop(server);
        rows
    }
}
