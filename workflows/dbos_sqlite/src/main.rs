//! DBOS for Python on a SQLite file in the run's folder, which is what it takes where nobody names
//! a database. All else is as in the variant `dbos`.

#![forbid(unsafe_code)]

#[path = "../../dbos/src/host.rs"]
mod host;

use std::process::ExitCode;
use std::sync::Arc;

use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Identity, RunError, StepRow, Submission, Workload,
    variant_main,
};
use workflows_peer::{Peer, folder_to_go_on_in, mark};

use host::{DBOS, host, python};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<DbosSqlite>(&IDENTITY)
}

struct DbosSqlite {
    peer: Peer,
}

impl BackEnd for DbosSqlite {
    // How DBOS opens the file, and so what a bare commit there costs, is its own affair.
    const BARE: Option<&'static str> = None;

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = folder_to_go_on_in(workload)?;
        let python = python()?;
        mark(workload)?;
        let database = format!("sqlite:///{}", folder.join("dbos.sqlite").display());
        let host = host(&python, &database, graph.shape(), workload.workers);
        Ok(Self { peer: Peer::start(DBOS, host, folder)? })
    }

    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        self.peer.submit(tasks)
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        self.peer.wait()
    }

    fn look(&mut self, _: &[u32]) -> Result<Vec<u32>, RunError> {
        self.peer.look()
    }

    fn counters(&self) -> Counters {
        Counters::from([("statements", self.peer.statements())])
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        self.peer.finish()
    }
}
