//! Is the answer right? What a variant says is held against somebody who knows.

pub(crate) mod agents;
pub(crate) mod ledgers;
pub(crate) mod offload;
pub(crate) mod search;
pub(crate) mod workflow;

use std::collections::BTreeMap;

use lab_protocol::RunOutcome;

/// Columns of a run by name.
pub(crate) type Columns = BTreeMap<String, Vec<i64>>;

/// What the comparison of an answer came to, where it was not wrong.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    /// Columns that the truth adds.
    pub(crate) columns: Columns,
    /// The answer was compared and agreed; a peer's count may differ without being wrong.
    pub(crate) agreed: bool,
}

impl From<Columns> for Truth {
    fn from(columns: Columns) -> Self {
        Self { columns, agreed: true }
    }
}

/// A column of as many rows as there must be.
fn column<'a>(outcome: &'a RunOutcome, name: &str, rows: usize) -> Result<&'a [i64], String> {
    let values = outcome.samples.get(name).map_or(&[][..], Vec::as_slice);
    if values.len() == rows {
        return Ok(values);
    }
    Err(format!("column {name} has {} rows, not {rows}", values.len()))
}
