//! A session that is opened again when it is lost, and what goes through it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use workflows_kit::{Counters, RunError};

use workflows_database::{Handle, ask, lost, said};

/// Of all sessions and connections of the back end.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    statements: AtomicU64,
    commits: AtomicU64,
    messages: AtomicU64,
    reconnections: AtomicU64,
    /// Read by whoever is about to change something, until that is counted.
    changes: RwLock<()>,
}

impl Counts {
    /// Taken before a statement that changes something and kept until that is counted: what it
    /// changed lets another worker complete the task, and the client ask for the counts.
    pub(crate) fn change(&self) -> RwLockReadGuard<'_, ()> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A statement that changed something.
    pub(crate) fn commit(&self) {
        self.commits.fetch_add(1, Relaxed);
    }

    /// Messages, said before they are published: who is told by one finds it counted.
    pub(crate) fn messages(&self, count: u64) {
        self.messages.fetch_add(count, Relaxed);
    }

    /// A session or a connection was lost.
    ///
    /// # Errors
    /// So many were that this will not end.
    pub(crate) fn reconnected(&self) -> Result<(), RunError> {
        if self.reconnections.fetch_add(1, Relaxed) > RECONNECTIONS_MOST {
            return Err(RunError::failed("too many sessions and connections were lost"));
        }
        Ok(())
    }

    /// Statements, commits, messages, reconnections. Waits for the changes that are under way.
    pub(crate) fn numbers(&self) -> [u64; 4] {
        let _none = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        [&self.statements, &self.commits, &self.messages, &self.reconnections]
            .map(|count| count.load(Relaxed))
    }
}

/// [`Counts::numbers`] by the protocol's names.
pub(crate) fn named(numbers: [u64; 4]) -> Counters {
    ["statements", "commits", "messages", "reconnections"].into_iter().zip(numbers).collect()
}

/// A session with its prepared statements.
pub(crate) struct Session<'a> {
    handle: Handle,
    counts: &'a Counts,
    /// What it prepares.
    texts: &'static [&'static str],
    client: Client,
    statements: Vec<Statement>,
}

/// What became of a statement.
pub(crate) enum Answer {
    /// It was done, and gave one row.
    Row(Row),
    /// The session was lost, so nobody knows whether it was done; there is a new one.
    Reconnected,
}

impl<'a> Session<'a> {
    /// Opens a session, and prepares statements that each give one row.
    ///
    /// # Errors
    /// The database is lost.
    pub(crate) fn open(
        handle: Handle,
        counts: &'a Counts,
        texts: &'static [&'static str],
    ) -> Result<Self, RunError> {
        for _ in 0..RECONNECTIONS_MOST {
            let mut client = handle.connect()?;
            match prepare(&mut client, texts) {
                Ok(statements) => {
                    return Ok(Self { handle, counts, texts, client, statements });
                }
                Err(error) if lost(&client, &error) => {}
                Err(error) => return Err(RunError::setup(said(&error))),
            }
        }
        Err(RunError::failed("the database ends every session at once"))
    }

    /// Runs one of the statements.
    ///
    /// # Errors
    /// The database refuses it, or is lost.
    pub(crate) fn ask(
        &mut self,
        statement: usize,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Answer, RunError> {
        self.counts.statements.fetch_add(1, Relaxed);
        self.uncounted(statement, values)
    }

    /// Runs one of the statements that no task needs.
    ///
    /// # Errors
    /// The database refuses it, or is lost.
    pub(crate) fn uncounted(
        &mut self,
        statement: usize,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Answer, RunError> {
        match ask(&mut self.client, &self.statements[statement], values) {
            Ok(row) => Ok(Answer::Row(row)),
            Err(error) => self.lost_or(&error).map(|()| Answer::Reconnected),
        }
    }

    /// Opens the session again if this error means that it is lost.
    ///
    /// # Errors
    /// It means something else, or the database is lost as a whole.
    fn lost_or(&mut self, error: &postgres::Error) -> Result<(), RunError> {
        if !lost(&self.client, error) {
            return Err(self.handle.failed(&format!("the database refuses: {}", said(error))));
        }
        self.counts.reconnected()?;
        *self = Self::open(self.handle.clone(), self.counts, self.texts)?;
        Ok(())
    }
}

const RECONNECTIONS_MOST: u64 = 100;
// The tables are small and grow: plans for the values at hand would be made again and again.
const OPENING: &str = "set plan_cache_mode = force_generic_plan";

fn prepare(client: &mut Client, texts: &[&str]) -> Result<Vec<Statement>, postgres::Error> {
    client.batch_execute(OPENING)?;
    texts.iter().map(|text| client.prepare(text)).collect()
}
