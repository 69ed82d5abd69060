//! Growing a table by rows whose columns are not known beforehand.

use std::collections::BTreeMap;

use super::{Raw, RawError, Value};

/// More cells than this are refused: rows that share no column would fill the memory.
const CELLS_MAX: usize = 16_000_000;

/// Columns that grow.
pub(super) struct Builder {
    name: String,
    rows: usize,
    columns: BTreeMap<String, Vec<Value>>,
    order: Vec<String>,
}

impl Builder {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), rows: 0, columns: BTreeMap::new(), order: Vec::new() }
    }

    /// Adds a row. A column it names twice keeps the later value.
    pub(super) fn push(
        &mut self,
        row: impl IntoIterator<Item = (impl AsRef<str>, Value)>,
    ) -> Result<(), RawError> {
        for (column, value) in row {
            let column = column.as_ref();
            if !self.columns.contains_key(column) {
                self.order.push(column.to_owned());
                self.columns.insert(column.to_owned(), Vec::new());
            }
            if let Some(values) = self.columns.get_mut(column) {
                values.resize(self.rows, Value::Missing);
                values.push(value);
            }
        }
        self.rows += 1;
        let (rows, columns) = (self.rows, self.columns.len());
        if rows.saturating_mul(columns) > CELLS_MAX {
            return Err(RawError::Size { name: self.name.clone(), rows, columns });
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Raw {
        for values in self.columns.values_mut() {
            values.resize(self.rows, Value::Missing);
        }
        Raw {
            name: self.name,
            rows: self.rows,
            columns: self.columns,
            order: self.order,
            page: None,
        }
    }
}
