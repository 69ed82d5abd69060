//! One statement that gives one row.

use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Error, Row, Statement};

/// Workers that got the same steps one after the other may wait for each other.
const DEADLOCKS_MOST: u32 = 100;

/// Asks for one row. Of two statements that wait for each other the server undoes one as a whole:
/// that one is asked again.
///
/// # Errors
/// The database refuses it, or is lost.
pub fn ask(
    client: &mut Client,
    statement: &Statement,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Row, Error> {
    for _ in 0..DEADLOCKS_MOST {
        match client.query_one(statement, values) {
            Err(error) if error.code() == Some(&SqlState::T_R_DEADLOCK_DETECTED) => {}
            answer => return answer,
        }
    }
    client.query_one(statement, values)
}
