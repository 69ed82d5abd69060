//! A table's columns by what their names say: settings, values, changes.

use std::collections::BTreeSet;

use super::grid::Grid;
use super::role::Role;
use super::words::{list, tokens};
use crate::Printed;
use crate::automatic::lexicon::{Words, class};
use crate::document::header;

/// Words of columns that a benchmark sets and does not measure.
static SETTINGS: Words = Words::new(|| class("column.settings"));

/// Words that say a column is a change or ratio of others.
static CHANGES: Words = Words::new(|| class("column.changes"));

/// Words of a header that name nothing.
const EMPTY: [&str; 12] =
    ["the", "of", "in", "to", "over", "from", "by", "for", "and", "than", "a", "speed"];

/// Whether a header names a setting of the benchmark.
pub(crate) fn is_setting(header: &str) -> bool {
    let words = list(header);
    let named = words.iter().any(|word| SETTINGS.contains(&word.as_str()));
    // "Batch latency" is measured.
    named && header::unit(header).is_none() && words.len() <= 2
}

/// A header's words without those that say change, unit or nothing.
pub(crate) fn qualifier(header: &str) -> BTreeSet<String> {
    let unit = header::unit(header);
    let bare = header::name(header, unit.as_deref()).replace('Δ', " δ ");
    let kept = |word: &String| !CHANGES.contains(&word.as_str()) && !EMPTY.contains(&word.as_str());
    tokens(&bare).into_iter().filter(kept).collect()
}

/// Whether a header says that the column is a change or ratio of others.
pub(crate) fn is_change(header: &str) -> bool {
    let lower = header.to_lowercase();
    // "Time % to zap": in per cent of a row.
    lower.contains('δ')
        || lower.contains("% to ")
        || lower.contains("% of ")
        || lower.contains("% vs")
        || tokens(&lower.replace("speed-up", "speedup"))
            .iter()
            .any(|word| CHANGES.contains(&word.as_str()))
}

/// Columns of measured values: numbers in most rows, and no setting, rank, run, count or change.
pub(crate) fn values(grid: &Grid<'_>) -> Vec<usize> {
    let table = grid.table;
    let measured = |column: &usize| {
        let role = grid.columns()[*column].role;
        let header = &table.columns[*column];
        let numbers = table.rows.iter().filter(|row| row.cells[*column].number.is_some()).count();
        !matches!(role, Role::Ratio | Role::Rank | Role::Run(_) | Role::Count | Role::P | Role::T)
            && !is_change(header)
            && !is_setting(header)
            && 2 * numbers >= table.rows.len().max(1)
    };
    (1..table.columns.len()).filter(measured).collect()
}

/// A cell's number.
pub(crate) fn number<'a>(grid: &Grid<'a>, row: usize, column: usize) -> Option<&'a Printed> {
    grid.table.rows.get(row)?.cells.get(column)?.number.as_ref()
}
