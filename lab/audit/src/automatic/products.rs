//! Columns that are products and quotients of others by their names: `Total` of `Per worker` and
//! the number of workers, `Efficiency` of a value and its baseline, `Overhead %` of `Overhead`.

use super::book::Book;
use super::column::{is_change, number};
use super::grid::Grid;
use super::identity::{Expected, judge};
use super::stems::stems;
use super::tie::unit_of;
use super::words::{says, tokens};
use crate::Check;
use crate::automatic::lexicon::{Words, class};
use crate::checks::Span;

/// Longer tables are listings.
const MOST_ROWS: usize = 200;

/// Words of a column that says how much of a baseline is left.
const KEPT: [&str; 7] =
    ["eta", "η", "efficiency", "retention", "retained", "normalized", "normalised"];

/// Words of a column of the base.
const BASES: [&str; 4] = ["baseline", "base", "reference", "ref"];

/// Words of a column that counts workers.
static WORKERS: Words = Words::new(|| class("workers"));

/// Checks a table whose rows are subjects.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    if grid.transposed || grid.table.rows.len() > MOST_ROWS {
        return;
    }
    per_worker(grid, book);
    of_baseline(grid, book);
    percent_of_column(grid, book);
}

/// The only column that fits.
fn lone(grid: &Grid<'_>, of: &dyn Fn(usize) -> bool) -> Option<usize> {
    crate::automatic::lone((0..grid.table.columns.len()).filter(|column| of(*column)))
}

/// `N | Per-agent ops/s | Total ops/s`.
fn per_worker(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let header = |column: usize| &table.columns[column];
    let total = lone(grid, &|column| says(header(column), &["total", "aggregate", "combined"]));
    let single = lone(grid, &|column| tokens(header(column)).contains("per"));
    let workers = lone(grid, &|column| {
        (says(header(column), &WORKERS) || tokens(header(column)).contains("n"))
            && unit_of(table, column).is_none()
            && !says(header(column), &["per", "total"])
    });
    let (Some(total), Some(single), Some(workers)) = (total, single, workers) else { return };
    if unit_of(table, total) != unit_of(table, single) || total == single {
        return;
    }
    let of = |row: usize| {
        let (one, count) = (number(grid, row, single)?, number(grid, row, workers)?);
        let span = Span::of(one).times(count.value);
        Some((row, span, format!("`{}` times `{}`", header(single), header(workers))))
    };
    let expected: Expected = (0..table.rows.len()).filter_map(of).collect();
    judge(grid, total, expected, Check::ProductOfColumns, book);
}

/// `Efficiency | Value | Baseline value`.
fn of_baseline(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let header = |column: usize| &table.columns[column];
    let kept = lone(grid, &|column| column > 0 && says(header(column), &KEPT));
    let base = lone(grid, &|column| {
        column > 0
            && says(header(column), &BASES)
            && table.rows.iter().any(|row| row.cells[column].number.is_some())
    });
    let (Some(kept), Some(base)) = (kept, base) else { return };
    let mut words = stems(header(base));
    words.retain(|word| !BASES.contains(&word.as_str()));
    let value = lone(grid, &|column| {
        column > 0
            && ![kept, base].contains(&column)
            && !words.is_empty()
            && words.is_subset(&stems(header(column)))
            && !is_change(header(column))
            && !says(header(column), &["total", "aggregate", "combined"])
    });
    let Some(value) = value else { return };
    let percent = unit_of(table, kept).as_deref() == Some("%");
    let of = |row: usize| {
        let (new, old) = (number(grid, row, value)?, number(grid, row, base)?);
        let ratio = Span::of(new).over(Span::of(old))?;
        let ratio = ratio.times(if percent { 100.0 } else { 1.0 });
        Some((row, ratio, format!("`{}` over `{}`", header(value), header(base))))
    };
    let expected: Expected = (0..table.rows.len()).filter_map(of).collect();
    judge(grid, kept, expected, Check::QuotientOfColumns, book);
}

/// `Overhead (ms) | Overhead %`: of the one column that most rows bear out as the whole.
fn percent_of_column(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let is_percent = |column: usize| unit_of(table, column).as_deref() == Some("%");
    for percent in (1..table.columns.len()).filter(|column| is_percent(*column)) {
        let words = stems(&table.columns[percent].replace('%', " "));
        let part = lone(grid, &|column| {
            column > 0
                && column != percent
                && !words.is_empty()
                && !is_percent(column)
                && stems(table.columns[column].split('(').next().unwrap_or_default()) == words
        });
        let Some(part) = part else { continue };
        let unit = unit_of(table, part);
        let expected = |whole: usize| -> Expected {
            let of = |row: usize| {
                let (part, whole) = (number(grid, row, part)?, number(grid, row, whole)?);
                let share = Span::of(part).over(Span::of(whole))?.times(100.0);
                Some((row, share, "its column over the whole".to_owned()))
            };
            (0..table.rows.len()).filter_map(of).collect()
        };
        let fits = |whole: usize| {
            let all = expected(whole);
            let fit = all.iter().filter(|(row, share, _)| {
                number(grid, *row, percent).is_some_and(|own| Span::of(own).meets(*share))
            });
            (fit.count(), all.len())
        };
        let whole = lone(grid, &|column| {
            let same = column > 0 && column != part && unit_of(table, column) == unit;
            same && matches!(fits(column), (fit, all) if fit >= 3 && 3 * fit >= 2 * all)
        });
        if let Some(whole) = whole {
            judge(grid, percent, expected(whole), Check::PercentOfColumn, book);
        }
    }
}
