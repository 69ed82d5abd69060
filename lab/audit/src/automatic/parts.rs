//! Shares that make up a whole.

use super::book::Book;
use super::column::{is_change, number};
use super::found::Found;
use super::grid::Grid;
use super::tie::unit_of;
use super::words::says;
use crate::automatic::lone;
use crate::checks::Span;
use crate::{Check, Printed, Severity};

/// Words that make percentages the parts of one whole.
const WHOLE: [&str; 5] = ["breakdown", "distribution", "composition", "share", "shares"];

/// A sum of shares further from 100 is one of something else.
const REACH: f64 = 12.0;

/// Longer tables are listings.
const MOST_ROWS: usize = 60;

/// Checks every table that people wrote.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    if grid.table.rows.len() <= MOST_ROWS && !grid.transposed {
        whole(grid, book);
    }
}

/// A column of shares of one whole, which add up to 100 %.
fn whole(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let titled = says(&table.caption, &WHOLE[..3])
        || table.headings.last().is_some_and(|heading| says(heading, &WHOLE[..3]));
    let partial = says(&table.above(), &["top", "selected", "main", "other", "overlap", "some"]);
    let is_share = |column: &usize| {
        let header = &table.columns[*column];
        let named = says(header, &WHOLE) || header.to_lowercase().contains("% of total");
        let alone = titled && (says(header, &["percentage", "percent"]) || header == "%");
        (named || alone) && !is_change(&header.replace("% of total", "share"))
    };
    let Some(column) = lone((1..table.columns.len()).filter(is_share)) else { return };
    let names = table.row_names();
    let is_total = |row: &usize| says(&names[*row], &["total", "sum", "all", "overall"]);
    let percent = unit_of(table, column).as_deref() == Some("%");
    let total = (0..table.rows.len()).find(|row| is_total(row));
    let parts: Option<Vec<&Printed>> = (0..table.rows.len())
        .filter(|row| !is_total(row))
        .map(|row| number(grid, row, column))
        .collect();
    let Some(parts) = parts.filter(|parts| parts.len() >= 3 && percent && !partial) else { return };
    let is_all = |row: usize| number(grid, row, column).is_some_and(|n| n.value == 100.0);
    let of_all = total.is_none_or(is_all);
    let Some(sum) = parts.iter().map(|part| Span::of(part)).reduce(Span::plus) else { return };
    // Beside the only column of values each share is checked by itself.
    let numeric = |other: &usize| {
        *other != column
            && table.rows.iter().filter(|r| r.cells[*other].number.is_some()).count() > 1
    };
    if total.is_none() && (1..table.columns.len()).filter(numeric).count() == 1 {
        return;
    }
    // Below 100 a part may be left out, unless a row says that it is all.
    let near = (sum.middle() - 100.0).abs() <= REACH;
    let wrong = !sum.meets(Span::exact(100.0)) && (sum.low > 100.0 || total.is_some());
    if !of_all || !near {
        return;
    }
    let row = total.unwrap_or(table.rows.len() - 1);
    let found = wrong.then(|| {
        let shown: f64 = parts.iter().map(|part| part.value).sum();
        let text = format!("the {} parts of one whole add up to {shown:.1} %", parts.len());
        let how = "the sum of the column's shares";
        let place = grid.spot(row, column);
        Found::remark(Check::PartsOfWhole, Severity::Inconsistent, place, text, how)
            .values(100.0, shown)
    });
    book.cell(table.rows[row].line, column, found);
}
