//! A session that is opened again when it is lost.

use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use workflows_kit::RunError;

use crate::counts::{Counts, RECONNECTIONS_MOST};
use crate::{Handle, ask, lost, said};

/// What a session that takes tasks over or works on them does first. The tables are small and grow:
/// plans for the values at hand would be made again and again.
pub const ENVIRONMENT: &str = "set plan_cache_mode = force_generic_plan";

/// A session with its prepared statements.
pub struct Session<'a> {
    handle: Handle,
    counts: &'a Counts,
    /// What it does first, and what it prepares.
    opening: &'static str,
    texts: &'static [&'static str],
    client: Client,
    statements: Vec<Statement>,
}

/// What became of a statement.
pub enum Answer {
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
    pub fn open(
        handle: Handle,
        counts: &'a Counts,
        opening: &'static str,
        texts: &'static [&'static str],
    ) -> Result<Self, RunError> {
        for _ in 0..RECONNECTIONS_MOST {
            let mut client = handle.connect()?;
            match prepared(&mut client, opening, texts) {
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
    pub fn ask(
        &mut self,
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Answer, RunError> {
        self.counts.statement();
        self.uncounted(statement, values)
    }

    /// Runs one of the statements that no task needs.
    ///
    /// # Errors
    /// The database refuses it, or is lost.
    ///
    /// # Panics
    /// When it was not prepared.
    pub fn uncounted(
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

    /// The counts that it adds to.
    pub fn counts(&self) -> &'a Counts {
        self.counts
    }

    /// What is under the statements.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Opens the session again if this error means that it is lost.
    ///
    /// # Errors
    /// It means something else, or the database is lost as a whole.
    pub fn lost_or(&mut self, error: &postgres::Error) -> Result<(), RunError> {
        if !lost(&self.client, error) {
            return Err(self.handle.failed(&format!("the database refuses: {}", said(error))));
        }
        self.counts.reconnected(&said(error))?;
        *self = Self::open(self.handle.clone(), self.counts, self.opening, self.texts)?;
        Ok(())
    }
}

fn prepared(
    client: &mut Client,
    opening: &str,
    texts: &[&str],
) -> Result<Vec<Statement>, postgres::Error> {
    client.batch_execute(opening)?;
    texts.iter().map(|text| client.prepare(text)).collect()
}
