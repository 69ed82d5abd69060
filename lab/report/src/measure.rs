//! What was computed from one run.

use std::collections::BTreeMap;

use crate::frame::Row;

/// One run and what was computed from it.
#[derive(Debug)]
pub struct Measured<'a> {
    /// The run.
    pub row: &'a Row,
    values: BTreeMap<&'static str, f64>,
}

impl<'a> Measured<'a> {
    /// A run with its family's metrics.
    pub fn new(row: &'a Row, values: BTreeMap<&'static str, f64>) -> Self {
        Self { row, values }
    }

    /// A metric of the run's family, or a counter by its name.
    pub fn value(&self, metric: &str) -> Option<f64> {
        let counter = || self.row.run.counters.get(metric).map(|&count| count as f64);
        self.values.get(metric).copied().or_else(counter)
    }

    /// The run's variant.
    pub fn variant(&self) -> &str {
        &self.row.run.variant
    }
}
