//! Columns that are one column per another: `Tokens per GB`, `Efficiency (tok/s per GB)`.

use super::book::Book;
use super::column::{number, values};
use super::found::Found;
use super::grid::Grid;
use super::tie::unit_of;
use super::words::tokens;
use crate::automatic::lone;
use crate::checks::{Mismatch, Span};
use crate::printed::unit;
use crate::{Check, Printed, Severity};

/// Checks every column whose header names a numerator and a divisor that are columns by
/// themselves.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let values = values(grid);
    for column in 1..table.columns.len() {
        let lower = table.columns[column].to_lowercase();
        let Some((left, right)) = lower.rsplit_once(" per ") else { continue };
        let left = left.rsplit('(').next().unwrap_or(left).trim();
        let right = right.trim_end_matches([')', ' ']);
        let one = |name: &str| {
            lone(
                values
                    .iter()
                    .copied()
                    .filter(|other| *other != column && is_named(grid, *other, name)),
            )
        };
        let (Some(over), Some(under)) = (one(left), one(right)) else { continue };
        for row in 0..table.rows.len() {
            of_row(grid, row, (column, over, under), book);
        }
    }
}

/// Whether a column is in the unit of that name, or named so.
fn is_named(grid: &Grid<'_>, column: usize, name: &str) -> bool {
    let header = &grid.table.columns[column];
    if header.to_lowercase().contains(" per ") {
        return false;
    }
    let unit = unit_of(grid.table, column);
    let counts = |unit: &str| unit.split('/').next().unwrap_or_default().to_owned();
    let same = unit.as_deref().is_some_and(|own| {
        unit::known(name).as_deref() == Some(own)
            || own.eq_ignore_ascii_case(name)
            // "Tokens per GB" divides tokens a second.
            || name.len() > 2 && name.starts_with(&counts(own)) && own.contains('/')
    });
    same || tokens(header).contains(name)
}

fn of_row(
    grid: &Grid<'_>,
    row: usize,
    (column, over, under): (usize, usize, usize),
    book: &mut Book,
) {
    let cell = |column: usize| number(grid, row, column);
    let (Some(stated), Some(over), Some(under)) = (cell(column), cell(over), cell(under)) else {
        return;
    };
    let Some(allowed) = Span::of(over).over(Span::of(under)) else { return };
    let wrong = (!Span::of(stated).meets(allowed))
        .then(|| Mismatch::of(stated, allowed, format!("{} / {}", over.value, under.value)));
    let found = wrong.map(|wrong| found(grid, (row, column), stated, &wrong));
    book.cell(grid.table.rows[row].line, column, found);
}

fn found(
    grid: &Grid<'_>,
    (row, column): (usize, usize),
    stated: &Printed,
    wrong: &Mismatch,
) -> Found {
    let place = grid.spot(row, column);
    Found::mismatch(Check::QuotientOfColumns, Severity::Inconsistent, place, stated, wrong)
}
