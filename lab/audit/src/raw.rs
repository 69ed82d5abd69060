//! Raw runs as columns.

use std::collections::BTreeMap;

/// Raw rows of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Raw {
    /// As the caller named it.
    pub name: String,
    /// How many rows; every column has as many values.
    pub rows: usize,
    /// Values by column, in the order of the file.
    pub columns: BTreeMap<String, Vec<Value>>,
}

/// A raw value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything else.
    Text(String),
    /// Not there.
    Missing,
}

impl Raw {
    /// A column's numbers with their row indices; empty where there is no such column.
    pub fn numbers(&self, column: &str) -> Vec<(usize, f64)> {
        let values = self.columns.get(column).map_or(&[][..], Vec::as_slice);
        let number = |(row, value): (usize, &Value)| match value {
            Value::Number(number) => Some((row, *number)),
            _ => None,
        };
        values.iter().enumerate().filter_map(number).collect()
    }
}
