//! DBOS for Python on a PostgreSQL of the run's own. A Python process has the workflow and does its
//! steps (`host.py`); this one hands tasks in and is told of their completion, through pipes.
//!
//! DBOS's own recovery is not measured: a folder that an earlier run has used is refused.

mod host;

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use postgres::{Client, Statement};
use workflows_database::{Server, said};
use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Identity, RunError, StepRow, Workload, now_ns, variant_main,
};

use host::{Host, Message};

const IDENTITY: Identity =
    Identity { variant: "dbos", measures: "dbos", version: "installed", features: &[] };

const BARE_TABLE: &str = "create table bare (commits bigint not null); insert into bare values (0)";
const BARE: &str = "update bare set commits = commits + 1";
/// The next number that a transaction would get. One gets a number when it first writes, and this
/// statement does not. The database's own count of commits would also have those that only read,
/// and lags by up to a second.
const WRITERS: &str = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

fn main() -> ExitCode {
    variant_main::<Dbos>(&IDENTITY)
}

/// Fields are dropped in order: the server ends last.
struct Dbos {
    host: Host,
    session: RefCell<Client>,
    bare: Statement,
    /// How often it was done: these commits are none of DBOS's.
    bare_commits: u64,
    statements: u64,
    /// Tasks of which was told before they were asked for.
    complete: Vec<u32>,
    _server: Server,
}

impl BackEnd for Dbos {
    const BARE: Option<&'static str> = Some("bare_commit_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = Path::new(&workload.folder);
        if !folder.is_absolute() || !folder.is_dir() {
            return Err(RunError::setup(format!(
                "folder is {:?}: give the absolute path of a folder that is there",
                workload.folder
            )));
        }
        if folder.join("data").exists() {
            return Err(RunError::setup(format!(
                "{} has what an earlier run left, with which this back end does not go on: give \
                 an empty folder",
                workload.folder
            )));
        }
        let python = host::python()?;
        let server = Server::start(folder)?;
        let mut session = server.door().connect()?;
        let prepared = session.batch_execute(BARE_TABLE).and_then(|()| session.prepare(BARE));
        let bare = prepared.map_err(|error| RunError::setup(said(&error)))?;
        // Without a password, through the socket alone.
        let database = format!(
            "postgresql+psycopg://lab@/postgres?host={}&port=5432",
            server.socket_folder().display()
        );
        let mut host = Host::start(&python, folder, &database, graph.shape(), workload.workers)?;
        let Message::Ready { statements } = host.next()? else {
            return Err(RunError::setup("the peer speaks of tasks before it is ready"));
        };
        Ok(Self {
            host,
            session: RefCell::new(session),
            bare,
            bare_commits: 0,
            statements,
            complete: Vec::new(),
            _server: server,
        })
    }

    fn submit(&mut self, task: u32, input: u64, submitted_ns: i64) -> Result<Accepted, RunError> {
        self.host.hand_in(task, input)?;
        loop {
            match self.host.next()? {
                Message::Accepted { task: taken } if taken == task => {
                    return Ok(Accepted { submitted_ns, accepted_ns: now_ns() });
                }
                other => self.heard(other)?,
            }
        }
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        while self.complete.is_empty() {
            let message = self.host.next()?;
            self.heard(message)?;
        }
        Ok(std::mem::take(&mut self.complete))
    }

    /// At what the peer has told until now: it is not asked.
    fn look(&mut self, _: &[u32]) -> Result<Vec<u32>, RunError> {
        while let Some(message) = self.host.told()? {
            self.heard(message)?;
        }
        Ok(std::mem::take(&mut self.complete))
    }

    fn bare_ns(&mut self) -> Result<Option<u64>, RunError> {
        let start_ns = now_ns();
        let done = self.session.get_mut().execute(&self.bare, &[]);
        done.map_err(|error| RunError::failed(said(&error)))?;
        self.bare_commits += 1;
        Ok(Some((now_ns() - start_ns).unsigned_abs()))
    }

    /// `commits` are transactions that wrote. DBOS writes none while no task is under way; an
    /// autovacuum that falls into the run would add a few.
    fn counters(&self) -> Counters {
        let mut counters = Counters::from([("statements", self.statements)]);
        // A session that is lost makes the run fail at its next bare commit.
        if let Ok(row) = self.session.borrow_mut().query_one(WRITERS, &[]) {
            let writers = row.get::<_, i64>(0).unsigned_abs();
            counters.insert("commits", writers.saturating_sub(self.bare_commits));
        }
        counters
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        self.host.finish()
    }
}

impl Dbos {
    fn heard(&mut self, message: Message) -> Result<(), RunError> {
        match message {
            Message::Complete { task, statements } => {
                self.complete.push(task);
                self.statements = statements;
                Ok(())
            }
            other => Err(RunError::failed(format!("the peer said {other:?}, which nobody asked"))),
        }
    }
}
