//! Confidence intervals in columns of their own, `[12.1, 14.3]` or `12.1 - 14.3`.

use super::book::Book;
use super::found::Found;
use super::grid::{Grid, same_unit};
use super::role::Role;
use crate::checks::intervals;
use crate::{Cell, Check, Printed, Severity};

/// Checks every column of ranges whose header speaks of confidence.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let columns = (1..table.columns.len()).filter(|column| is_interval(&table.columns[*column]));
    book.found.extend(columns.flat_map(|column| of_column(grid, column)));
    book.found.extend(of_two_columns(grid));
}

/// The only lower and the only upper bound of a table, where their headers name another metric
/// than the estimate's: `Mean latency | 95% CI lower | 95% CI upper`.
fn of_two_columns(grid: &Grid<'_>) -> Vec<Found> {
    let lone = |role: Role| {
        let mut columns =
            grid.columns().iter().enumerate().filter(|(_, meaning)| meaning.role == role);
        let first = columns.next().map(|(index, _)| index);
        first.filter(|_| columns.next().is_none())
    };
    let (Some(low), Some(high)) = (lone(Role::Low), lone(Role::High)) else { return Vec::new() };
    let Some(estimate) = lone(Role::Mean).or_else(|| lone(Role::Estimate)) else {
        return of_any_column(grid, low, high);
    };
    let confident = |column: usize| is_interval(&grid.table.columns[column]);
    if !(confident(low) && confident(high)) || lone(Role::Percentile(0.5)).is_some() {
        return Vec::new();
    }
    let rows = grid.table.rows.iter().enumerate();
    let found = rows.filter_map(|(row, cells)| {
        let low = cells.cells[low].number.as_ref()?;
        let high = number(&cells.cells[high], low)?;
        let value = number(&cells.cells[estimate], low)?;
        let mismatch = intervals::excludes(value, low, high)?;
        let place = grid.spot(row, estimate);
        let check = Check::IntervalExcludesEstimate;
        Some(Found::mismatch(check, Severity::Impossible, place, value, &mismatch))
    });
    found.collect()
}

/// `Slope | R² | CI lower | CI upper`: where no header says what the interval is for, it is for
/// some number on its left; where it holds none of them, something is wrong.
fn of_any_column(grid: &Grid<'_>, low: usize, high: usize) -> Vec<Found> {
    let table = grid.table;
    let confident = |column: usize| is_interval(&table.columns[column]);
    if !(confident(low) && confident(high)) || low < 2 {
        return Vec::new();
    }
    let of_row = |row: usize| {
        let cells = &table.rows[row].cells;
        let start = cells[low].number.as_ref()?;
        let end = number(&cells[high], start)?;
        let mut wrong = None;
        for (column, cell) in cells.iter().enumerate().take(low).skip(1) {
            let Some(value) = number(cell, start) else { continue };
            let mismatch = intervals::excludes(value, start, end)?;
            // Whole numbers count something.
            if value.decimals > 0 {
                wrong.get_or_insert((column, value, mismatch));
            }
        }
        let (column, value, mismatch) = wrong?;
        let place = grid.spot(row, column);
        let check = Check::IntervalExcludesEstimate;
        Some(Found::mismatch(check, Severity::Inconsistent, place, value, &mismatch))
    };
    let found: Vec<Found> = (0..table.rows.len()).filter_map(of_row).collect();
    // Where it holds none in most rows, it is for what the table does not have.
    if 3 * found.len() > table.rows.len() { Vec::new() } else { found }
}

/// Whether a header or caption speaks of confidence.
pub(super) fn is_interval(header: &str) -> bool {
    let header = header.to_lowercase();
    let mut words = header.split(|c: char| !c.is_alphanumeric());
    header.contains("confidence") || words.any(|word| ["ci", "ci95"].contains(&word))
}

fn of_column(grid: &Grid<'_>, column: usize) -> Vec<Found> {
    let table = grid.table;
    let (candidates, maximum) = candidates(grid, column);
    let rows = table.rows.iter().enumerate();
    let found = rows.filter_map(|(row, cells)| {
        let (low, high) = cells.cells[column].range.as_ref()?;
        let numbers: Vec<(usize, &Printed)> = candidates
            .iter()
            .filter_map(|index| Some((*index, number(&cells.cells[*index], low)?)))
            .collect();
        // It may be about any of them: only where it is about none, something is wrong.
        let misses: Vec<_> = numbers
            .iter()
            .filter_map(|(index, value)| {
                Some((*index, *value, intervals::excludes(value, low, high)?))
            })
            .collect();
        let place = |index: usize| grid.spot(row, index);
        if let Some((index, value, mismatch)) = misses.first()
            && misses.len() == numbers.len()
        {
            let check = if maximum {
                Check::IntervalExcludesMaximum
            } else {
                Check::IntervalExcludesEstimate
            };
            let at = place(*index);
            return Some(Found::mismatch(check, Severity::Impossible, at, value, mismatch));
        }
        None
    });
    found.collect()
}

/// The columns that an interval may be about, and whether they are maxima.
fn candidates(grid: &Grid<'_>, column: usize) -> (Vec<usize>, bool) {
    let with_role = |wanted: fn(Role) -> bool| -> Vec<usize> {
        let meanings = grid.columns().iter().enumerate().skip(1);
        let wanted = meanings.filter(|(index, meaning)| *index != column && wanted(meaning.role));
        wanted.map(|(index, _)| index).collect()
    };
    let header = grid.table.columns[column].to_lowercase();
    let of_maximum = ["max", "peak"].iter().any(|word| header.contains(word));
    let is_estimate = |role: Role| {
        matches!(role, Role::Mean | Role::Estimate)
            || matches!(role, Role::Percentile(p) if (p - 0.5).abs() < 1e-9)
    };
    let estimates = with_role(is_estimate);
    let maxima = with_role(|role| role == Role::Max);
    match (of_maximum, estimates.is_empty()) {
        (false, false) => (estimates, false),
        (true, _) | (false, true) => (maxima, true),
    }
}

fn number<'c>(cell: &'c Cell, end: &Printed) -> Option<&'c Printed> {
    cell.number.as_ref().filter(|number| same_unit(number, end))
}
