//! Which columns and rows of a table beside it a sentence with a number speaks of.

use std::collections::BTreeSet;

use crate::Printed;
use crate::automatic::column::is_setting;
use crate::automatic::role::Role;
use crate::automatic::stems::{is_rate, stems};
use crate::automatic::tie::{Tied, unit_of};
use crate::automatic::words::{says, tokens};

/// Words of rows that are of other rows.
const SUMMARIES: [&str; 14] = [
    "total",
    "sum",
    "mean",
    "average",
    "avg",
    "median",
    "overall",
    "all",
    "geomean",
    "delta",
    "difference",
    "target",
    "theoretical",
    "ideal",
];

/// Words of statistics, of which a sentence without one does not speak.
const STATISTICS: [&str; 11] =
    ["p50", "p90", "p95", "p99", "p999", "max", "maximum", "min", "minimum", "median", "peak"];

/// The columns in a stated number's unit that a text names by a word of their metric; without such
/// a word, the only one in that unit.
pub(super) fn columns(tied: &Tied<'_, '_>, text: &str, stated: &Printed) -> Vec<usize> {
    let table = tied.table();
    let words = stems(text);
    let spoken = tokens(text);
    let plain = |column: &usize| {
        let role = tied.grid.columns()[*column].role;
        let named = |role: Role| match role {
            Role::Value | Role::Mean | Role::Ratio => true,
            Role::Percentile(_) | Role::Max | Role::Min => {
                let header = tokens(&table.columns[*column]);
                STATISTICS.iter().any(|word| header.contains(*word) && spoken.contains(*word))
            }
            _ => false,
        };
        named(role)
            && !is_setting(&table.columns[*column])
            && unit_of(table, *column) == stated.unit
            && stated.unit.is_some()
    };
    let all: Vec<usize> = (1..table.columns.len()).filter(plain).collect();
    let named = |column: &usize| {
        let metric = stems(&tied.grid.columns()[*column].metric);
        let rate = stated.unit.as_deref().is_some_and(is_rate);
        metric.iter().any(|word| word.len() > 2 && words.contains(word))
            || rate && words.contains("throughput")
    };
    let named: Vec<usize> = all.iter().copied().filter(named).collect();
    match (named.is_empty(), &all[..]) {
        (false, _) => named,
        (true, [one]) => vec![*one],
        _ => Vec::new(),
    }
}

/// The rows that a text can mean: those with a word of the text that others lack, or all. Rows that
/// sum up are none of them.
pub(super) fn rows(tied: &Tied<'_, '_>, text: &str) -> Vec<usize> {
    let plain: Vec<usize> =
        (0..tied.table().rows.len()).filter(|row| !says(tied.name(*row), &SUMMARIES)).collect();
    let words = tokens(text);
    let labels: Vec<BTreeSet<String>> = plain.iter().map(|row| labels(tied, *row)).collect();
    let telling: BTreeSet<&String> = words
        .iter()
        .filter(|word| word.chars().any(char::is_alphabetic))
        .filter(|word| {
            let with = labels.iter().filter(|own| own.contains(*word)).count();
            with > 0 && with < labels.len()
        })
        .collect();
    if telling.is_empty() {
        return plain;
    }
    let has = |own: &BTreeSet<String>| telling.iter().any(|word| own.contains(*word));
    plain.iter().zip(&labels).filter(|(_, own)| has(own)).map(|(row, _)| *row).collect()
}

/// The words of a row's texts.
fn labels(tied: &Tied<'_, '_>, row: usize) -> BTreeSet<String> {
    let cells = tied.table().rows[row].cells.iter().enumerate();
    let texts = cells.filter(|(index, cell)| *index == 0 || cell.numbers.is_empty());
    texts.flat_map(|(_, cell)| tokens(&cell.text)).collect()
}

/// The rows that have every `NAME=number` of a text; `None` where a name is no column.
pub(super) fn with_settings(
    tied: &Tied<'_, '_>,
    text: &str,
    rows: Vec<usize>,
) -> Option<Vec<usize>> {
    let table = tied.table();
    let mut kept = rows;
    for (at, _) in text.match_indices('=') {
        let name = text[..at].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        let value: String = text[at + 1..]
            .trim_start()
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        let value: f64 = value.trim_end_matches('.').parse().ok()?;
        let wanted = stems(name);
        let named = |column: &usize| {
            !wanted.is_empty() && wanted.is_subset(&stems(&table.columns[*column]))
        };
        let mut columns = (0..table.columns.len()).filter(named);
        let column = columns.next().filter(|_| columns.next().is_none())?;
        kept.retain(|row| {
            table.rows[*row].cells[column].numbers.first().is_some_and(|n| n.value == value)
        });
    }
    Some(kept)
}
