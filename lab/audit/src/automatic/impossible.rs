//! Numbers that the quantity of their name never has: shares above all, probabilities above one,
//! negative times and deviations.

use std::collections::BTreeMap;

use super::book::Book;
use super::column::is_change;
use super::found::Found;
use super::grid::{Grid, Record, Stat};
use super::role::Role;
use crate::checks::Span;
use crate::printed::unit;
use crate::{Check, Printed, Severity};

/// Words of metrics that are shares of a whole.
const SHARES: [&str; 8] =
    ["accuracy", "success", "recall", "precision", "availability", "hit", "pass", "uptime"];

/// Checks every number of a table.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    // A header is read once and not for each of its cells, of which a listing has many.
    let mut changes: BTreeMap<usize, bool> = BTreeMap::new();
    for record in &grid.records {
        for stat in record.stats.iter().filter(|stat| stat.sure) {
            if !*changes.entry(stat.index).or_insert_with(|| is_change(&stat.header)) {
                of_stat(grid, record, stat, book);
            }
        }
    }
}

fn of_stat(grid: &Grid<'_>, record: &Record<'_>, stat: &Stat<'_>, book: &mut Book) {
    let Some((low, high, what)) = bounds(stat) else { return };
    let span = Span::of(&stat.number);
    let outside = span.high < low || span.low > high;
    let found = outside.then(|| {
        let place = grid.place(record, stat);
        let sentence = format!(
            "`{}` of {} is {}: {what} is never {}",
            stat.header,
            record.name(),
            super::sentence::shown(&stat.number),
            if span.high < low { format!("below {low}") } else { format!("above {high}") }
        );
        let how = "what a quantity of this name can be";
        Found::remark(Check::ImpossibleValue, Severity::Impossible, place, sentence, how)
            .values(stat.number.value, if span.high < low { low } else { high })
    });
    book.cell(stat.line, stat.index, found);
}

/// Whether a header speaks of a deviation with a word of its own; `async_std` does not.
fn names_deviation(header: &str) -> bool {
    let lower = header.to_lowercase();
    let mut words = lower.split(|c: char| c.is_whitespace() || "()[],.".contains(c));
    words.any(|word| ["stddev", "stdev", "sd", "σ", "stderr", "deviation"].contains(&word))
}

/// What a statistic's name says that it can be.
fn bounds(stat: &Stat<'_>) -> Option<(f64, f64, &'static str)> {
    let words: Vec<&str> = stat.metric.split(' ').collect();
    let unit_name = stat.number.unit.as_deref();
    let timed = |number: &Printed| {
        number.unit.as_deref().is_some_and(|own| unit::factor(own, "s").is_some())
    };
    match stat.role {
        Role::P => Some((0.0, 1.0, "a probability")),
        Role::Sd | Role::StandardError if names_deviation(&stat.header) => {
            Some((0.0, f64::INFINITY, "a deviation"))
        }
        _ if unit_name == Some("%") && SHARES.iter().any(|word| words.contains(word)) => {
            Some((0.0, 100.0, "a share of a whole"))
        }
        // Offsets and differences may be negative, and have other names.
        Role::Mean | Role::Percentile(_) | Role::Min | Role::Max | Role::Value
            if timed(&stat.number)
                && ["time", "latency", "duration", "elapsed"].iter().any(|w| words.contains(w)) =>
        {
            Some((0.0, f64::INFINITY, "a time that something took"))
        }
        _ => None,
    }
}
