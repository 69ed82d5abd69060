//! `Range` beside `Min` and `Max`, `IQR` beside the quartiles: as columns, as rows, and in lists.

use super::book::Book;
use super::found::Found;
use super::grid::Grid;
use crate::automatic::lone;
use crate::checks::bounds;
use crate::document::header;
use crate::{Check, Printed, Severity, Table};

/// A width, and its lower and upper end, by the names that each has.
const WIDTHS: [[&[&str]; 3]; 2] = [
    [&["range", "spread"], &["min", "minimum", "lowest"], &["max", "maximum", "highest"]],
    [
        &["iqr", "interquartile range"],
        &["q1", "p25", "25th percentile", "25%"],
        &["q3", "p75", "75th percentile", "75%"],
    ],
];

/// Longer tables are listings, whose rows are no statistics.
const MOST_ROWS: usize = 400;

/// Checks a table or list.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    if table.rows.len() > MOST_ROWS {
        return;
    }
    let columns = bare(&table.columns);
    let rows = bare(&table.row_names());
    for names in &WIDTHS {
        if let Some([width, low, high]) = places(&columns, names) {
            for row in 0..table.rows.len() {
                of_cells(grid, [(row, width), (row, low), (row, high)], book);
            }
        } else if let Some([width, low, high]) = places(&rows, names) {
            for column in 1..table.columns.len() {
                of_cells(grid, [(width, column), (low, column), (high, column)], book);
            }
        }
    }
}

/// Names without units and brackets.
fn bare(names: &[String]) -> Vec<String> {
    let of = |name: &String| {
        let name = header::name(name, header::unit(name).as_deref()).to_lowercase();
        name.split('(').next().unwrap_or_default().trim_matches([' ', ':']).to_owned()
    };
    names.iter().map(of).collect()
}

/// Where the width and its ends stand, each once.
fn places(names: &[String], wanted: &[&[&str]; 3]) -> Option<[usize; 3]> {
    let one = |wanted: &[&str]| {
        lone((0..names.len()).filter(|index| wanted.contains(&names[*index].as_str())))
    };
    Some([one(wanted[0])?, one(wanted[1])?, one(wanted[2])?])
}

fn number(table: &Table, (row, column): (usize, usize)) -> Option<&Printed> {
    table.rows.get(row)?.cells.get(column)?.number.as_ref()
}

fn of_cells(grid: &Grid<'_>, [width, low, high]: [(usize, usize); 3], book: &mut Book) {
    let table = grid.table;
    let numbers = (number(table, width), number(table, low), number(table, high));
    let (Some(stated), Some(low), Some(high)) = numbers else { return };
    if stated.unit != low.unit || low.unit != high.unit {
        return;
    }
    let (row, column) = width;
    let found = bounds::range(stated, low, high).map(|wrong| {
        let place = grid.spot(row, column);
        Found::mismatch(Check::RangeOfExtremes, Severity::Inconsistent, place, stated, &wrong)
    });
    book.cell(table.rows[row].line, column, found);
}
