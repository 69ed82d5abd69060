//! A session that is opened again when it is lost, and what goes through it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use workflows_kit::{Accepted, Counters, RunError, Submission, now_ns};

use workflows_database::{Handle, ask, lost, said};

/// Of all sessions of the back end.
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
    /// Taken before a statement that may change something and kept until that is counted: others
    /// may be told of the change, and ask for the counts, before its own session is.
    pub(crate) fn change(&self) -> RwLockReadGuard<'_, ()> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A statement that changed something.
    pub(crate) fn commit(&self) {
        self.commits.fetch_add(1, Relaxed);
    }

    /// In the order of [`COUNTED`]. Waits for the changes that are under way.
    pub(crate) fn numbers(&self) -> [u64; 4] {
        let _none = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        [&self.statements, &self.commits, &self.messages, &self.reconnections]
            .map(|count| count.load(Relaxed))
    }
}

/// By the protocol's names.
pub(crate) fn named(counts: [u64; 4]) -> Counters {
    COUNTED.into_iter().zip(counts).collect()
}

const COUNTED: [&str; 4] = ["statements", "commits", "messages", "reconnections"];

/// What a session of a worker, or of who takes tasks over, does first. The tables are small and
/// grow: plans for the values at hand would be made again and again.
pub(crate) const ENVIRONMENT: &str = "set plan_cache_mode = force_generic_plan";

/// Takes tasks over.
pub(crate) const ACCEPT: &str = "select * from accept($1, $2, $3)";
/// Notifies; nobody of what is null or false.
pub(crate) const TELL: &str = "select case when $1::text is not null \
    then pg_notify('complete', $1)::text end, case when $2 then pg_notify('work', '')::text end";
/// Which of some tasks are complete.
pub(crate) const LOOK: &str =
    "select coalesce(array_agg(task), '{}') from tasks where task = any($1) and steps_left = 0";
/// The least that commits something.
pub(crate) const BARE: &str = "update bare set commits = commits + 1 returning commits";

/// A session with its prepared statements.
pub(crate) struct Session<'a> {
    handle: Handle,
    counts: &'a Counts,
    /// What it does first, and what it prepares.
    opening: &'static str,
    texts: &'static [&'static str],
    pub(crate) client: Client,
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
        opening: &'static str,
        texts: &'static [&'static str],
    ) -> Result<Self, RunError> {
        for _ in 0..RECONNECTIONS_MOST {
            let mut client = handle.connect()?;
            match prepare(&mut client, opening, texts) {
                Ok(statements) => {
                    return Ok(Self { handle, counts, opening, texts, client, statements });
                }
                Err(error) if lost(&client, &error) => {}
                Err(error) => return Err(RunError::setup(said(&error))),
            }
        }
        Err(RunError::failed("the database ends every session at once"))
    }

    /// Runs one of the statements, by its text.
    ///
    /// # Errors
    /// The database refuses it, or is lost.
    ///
    /// # Panics
    /// When it was not prepared.
    pub(crate) fn ask(
        &mut self,
        statement: &str,
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
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Answer, RunError> {
        let place = self.texts.iter().position(|text| *text == statement);
        let place = place.expect("a session asks what it has prepared");
        match ask(&mut self.client, &self.statements[place], values) {
            Ok(row) => Ok(Answer::Row(row)),
            Err(error) => self.lost_or(&error).map(|()| Answer::Reconnected),
        }
    }

    /// Takes tasks over, in one commit, and says whether each is complete already. Asked twice, it
    /// does so once.
    ///
    /// # Errors
    /// The database refuses, or is lost.
    pub(crate) fn accept(
        &mut self,
        tasks: &[Submission],
    ) -> Result<Vec<(Accepted, bool)>, RunError> {
        let of = |number: fn(&Submission) -> i64| tasks.iter().map(number).collect::<Vec<_>>();
        let numbers = of(|one| one.task.into());
        let (inputs, submitted) = (of(|one| one.input.cast_signed()), of(|one| one.submitted_ns));
        let _change = self.counts.change();
        let row = loop {
            if let Answer::Row(row) = self.ask(ACCEPT, &[&numbers, &inputs, &submitted])? {
                break row;
            }
        };
        let now_ns = now_ns();
        let (is_new, complete): (Vec<bool>, Vec<bool>) = (row.get(0), row.get(2));
        if is_new.contains(&true) {
            self.counts.commit();
        }
        let accepted = row.get::<_, Vec<i64>>(1).into_iter().zip(is_new).zip(complete);
        let accepted = accepted.map(|((submitted_ns, is_new), complete)| {
            // When somebody else accepted it is not kept.
            let accepted_ns = if is_new { now_ns } else { submitted_ns };
            (Accepted { submitted_ns, accepted_ns }, complete)
        });
        Ok(accepted.collect())
    }

    /// Notifies other processes: those that wait for ends with this payload, or those that wait for
    /// work, or both.
    ///
    /// # Errors
    /// The database refuses, or is lost.
    pub(crate) fn tell(&mut self, ends: Option<&str>, work: bool) -> Result<Answer, RunError> {
        let messages = u64::from(ends.is_some()) + u64::from(work);
        self.counts.messages.fetch_add(messages, Relaxed);
        self.ask(TELL, &[&ends, &work])
    }

    /// Which of these tasks are complete.
    ///
    /// # Errors
    /// The database refuses, or is lost.
    pub(crate) fn complete_of(&mut self, tasks: &BTreeSet<u32>) -> Result<Vec<u32>, RunError> {
        let tasks: Vec<i64> = tasks.iter().map(|&task| task.into()).collect();
        loop {
            if let Answer::Row(row) = self.ask(LOOK, &[&tasks])? {
                let complete: Vec<i64> = row.get(0);
                return Ok(complete.into_iter().map(|task| task as u32).collect());
            }
        }
    }

    /// How long the least that commits something takes.
    ///
    /// # Errors
    /// The database refuses, or is lost.
    pub(crate) fn bare_ns(&mut self) -> Result<u64, RunError> {
        loop {
            let start_ns = now_ns();
            if let Answer::Row(_) = self.uncounted(BARE, &[])? {
                return Ok((now_ns() - start_ns).unsigned_abs());
            }
        }
    }

    /// Opens the session again if this error means that it is lost.
    ///
    /// # Errors
    /// It means something else, or the database is lost as a whole.
    pub(crate) fn lost_or(&mut self, error: &postgres::Error) -> Result<(), RunError> {
        if !lost(&self.client, error) {
            return Err(self.handle.failed(&format!("the database refuses: {}", said(error))));
        }
        if self.counts.reconnections.fetch_add(1, Relaxed) > RECONNECTIONS_MOST {
            return Err(RunError::failed(format!("too many sessions were lost: {}", said(error))));
        }
        *self = Self::open(self.handle.clone(), self.counts, self.opening, self.texts)?;
        Ok(())
    }
}

const RECONNECTIONS_MOST: u64 = 100;

fn prepare(
    client: &mut Client,
    opening: &str,
    texts: &[&str],
) -> Result<Vec<Statement>, postgres::Error> {
    client.batch_execute(opening)?;
    texts.iter().map(|text| client.prepare(text)).collect()
}
