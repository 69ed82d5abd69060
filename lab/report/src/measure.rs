//! What was computed from one run, and what a metric's name says about it.

use std::collections::BTreeMap;

use lab_stats::verdict::Direction;

use crate::frame::Row;

/// One run and what was computed from it.
#[derive(Debug)]
pub(crate) struct Measured<'a> {
    pub(crate) row: &'a Row,
    values: BTreeMap<&'static str, f64>,
}

impl<'a> Measured<'a> {
    /// A run with its family's metrics.
    pub(crate) fn new(row: &'a Row, values: BTreeMap<&'static str, f64>) -> Self {
        Self { row, values }
    }

    /// A metric of the run's family, or a counter by its name.
    pub(crate) fn value(&self, metric: &str) -> Option<f64> {
        let counter = || self.row.run.counters.get(metric).map(|&count| count as f64);
        self.values.get(metric).copied().or_else(counter)
    }

    pub(crate) fn variant(&self) -> &str {
        &self.row.run.variant
    }
}

/// The unit that a metric's name states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Ns,
    Share,
    PerSecond,
    Times,
    Bytes,
    Count,
}

pub(crate) fn unit(metric: &str) -> Unit {
    match metric {
        name if name.starts_with("efficiency") || name.ends_with("_share") => Unit::Share,
        name if name.starts_with("tokens_per_s") => Unit::PerSecond,
        "transactions_per_s" | "files_per_s" | "items_per_s" | "jobs_per_s" | "steps_per_s" => {
            Unit::PerSecond
        }
        name if name.ends_with("ns_per_transaction") => Unit::Ns,
        name if name.starts_with("speed_up") => Unit::Times,
        name if name.ends_with("_ns") => Unit::Ns,
        name if name.ends_with("_bytes") => Unit::Bytes,
        _ => Unit::Count,
    }
}

/// Which way a metric is better.
pub(crate) fn direction(metric: &str) -> Direction {
    let higher = [
        "efficiency",
        "speed_up",
        "tokens_per_s",
        "transactions_per_s",
        "gigabytes_per_s",
        "files_per_s",
        "items_per_s",
        "jobs_per_s",
        "steps_per_s",
        "better_share",
        "token_balance",
        "agent_overlap",
    ];
    if higher.iter().any(|prefix| metric.starts_with(prefix)) {
        Direction::HigherIsBetter
    } else {
        Direction::LowerIsBetter
    }
}
