//! DBOS for Python on a PostgreSQL of the run's own. A Python process has the workflow and does its
//! steps (`host.py`); this one hands tasks in and is told of their completion, through pipes.
//!
//! In a folder that a killed run of the same workload has left, DBOS's own recovery goes on.

#![forbid(unsafe_code)]

mod host;

use std::cell::RefCell;
use std::process::ExitCode;
use std::sync::Arc;

use postgres::{Client, Statement};
use workflows_database::{POSTGRESQL, Server, said};
use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Identity, RunError, StepRow, Submission, Workload, keep_up,
    now_ns, variant_main,
};
use workflows_peer::{Peer, folder_to_go_on_in, mark};

use host::{DBOS, host, python};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

const BARE_TABLE: &str = "create table if not exists bare (commits bigint not null); truncate bare;
    insert into bare values (0)";
const BARE: &str = "update bare set commits = commits + 1";
/// The next number that a transaction would get. One gets a number when it first writes, and this
/// statement does not. The database's own count of commits would also have those that only read,
/// and lags by up to a second.
const WRITERS: &str = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

fn main() -> ExitCode {
    keep_up(&[POSTGRESQL]).unwrap_or_else(|| variant_main::<Dbos>(&IDENTITY))
}

/// Fields are dropped in order: the server ends last.
struct Dbos {
    peer: Peer,
    session: RefCell<Client>,
    bare: Statement,
    /// How often it was done: these commits are none of DBOS's.
    bare_commits: u64,
    server: Server,
}

impl BackEnd for Dbos {
    const BARE: Option<&'static str> = Some("bare_commit_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = folder_to_go_on_in(workload)?;
        let python = python()?;
        let server = Server::start(folder)?;
        mark(workload)?;
        let mut session = server.handle().connect()?;
        let prepared = session.batch_execute(BARE_TABLE).and_then(|()| session.prepare(BARE));
        let bare = prepared.map_err(|error| RunError::setup(said(&error)))?;
        let host = host(&python, &database(&server), graph.shape(), workload.workers);
        let peer = Peer::start(DBOS, host, folder)?;
        let session = RefCell::new(session);
        Ok(Self { peer, session, bare, bare_commits: 0, server })
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

    fn bare_ns(&mut self) -> Result<Option<u64>, RunError> {
        let start_ns = now_ns();
        let done = self.session.get_mut().execute(&self.bare, &[]);
        done.map_err(|error| RunError::failed(said(&error)))?;
        self.bare_commits += 1;
        Ok(Some((now_ns() - start_ns).unsigned_abs()))
    }

    fn servers(&self) -> Vec<u32> {
        self.server.kept_process().into_iter().collect()
    }

    /// `commits` are transactions that wrote. DBOS writes none while no task is under way; an
    /// autovacuum that falls into the run would add a few.
    fn counters(&self) -> Counters {
        let mut counters = Counters::from([("statements", self.peer.statements())]);
        // A session that is lost makes the run fail at its next bare commit.
        if let Ok(row) = self.session.borrow_mut().query_one(WRITERS, &[]) {
            let writers = row.get::<_, i64>(0).unsigned_abs();
            counters.insert("commits", writers.saturating_sub(self.bare_commits));
        }
        counters
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        self.peer.finish()
    }
}

/// The server, reached without a password, through the socket alone.
fn database(server: &Server) -> String {
    let (folder, name) = (server.socket_folder(), server.database());
    format!("postgresql+psycopg://lab@/{name}?host={}&port=5432", folder.display())
}
