//! Columns that follow from others by what they are: the inverse of a time, a sum, a share.

use crate::automatic::lone;
use std::collections::BTreeSet;

use super::book::Book;
use super::column::{is_change, is_setting, number, values};
use super::found::Found;
use super::grid::Grid;
use super::role::Role;
use super::stems::{stem, stems};
use super::tie::unit_of;
use super::words::says;
use crate::checks::{Mismatch, Span};
use crate::printed::unit;
use crate::{Check, Printed, Severity};

/// Checks every table.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    if grid.transposed {
        return;
    }
    inverse(grid, book);
    total(grid, book);
    average(grid, book);
    share(grid, book);
}

/// What a column should be in a row.
pub(super) type Expected = Vec<(usize, Span, String)>;

/// `ns/op` beside `ops/s`, `Cost/1M tokens` beside `Tokens/$`.
fn inverse(grid: &Grid<'_>, book: &mut Book) {
    let rates = values(grid).into_iter().filter_map(|column| Some((column, rate(grid, column)?)));
    let rates: Vec<(usize, Rate)> = rates.collect();
    for (a, one) in &rates {
        for (b, other) in rates.iter().filter(|(b, _)| b > a) {
            if one.over != other.under || one.under != other.over {
                continue;
            }
            // The one of time is measured, the other one follows.
            let (from, to, factor) = if one.over == "s" {
                (*a, *b, one.factor * other.factor)
            } else {
                (*b, *a, one.factor * other.factor)
            };
            let expected = (0..grid.table.rows.len()).filter_map(|row| {
                let of = Span::of(number(grid, row, from)?).times(factor);
                let how = format!("1 / `{}`", grid.table.columns[from]);
                Some((row, Span::exact(1.0).over(of)?, how))
            });
            judge(grid, to, expected.collect(), Check::Inverse, book);
        }
    }
}

/// What a column counts over what, and the factor to the units of both.
struct Rate {
    over: String,
    under: String,
    factor: f64,
}

/// Reads a column's unit, or else its header, as one thing over another.
fn rate(grid: &Grid<'_>, column: usize) -> Option<Rate> {
    let unit_name = unit_of(grid.table, column).filter(|unit| unit.len() > 1);
    let header = grid.table.columns[column].replace(" per ", "/");
    let text = match unit_name.as_deref() {
        Some("ops") => "op/s".to_owned(),
        Some(unit) if unit.contains('/') => unit.to_owned(),
        _ => header,
    };
    let (over, under) = text.split_once('/')?;
    let ((over, up), (under, down)) = (thing(over)?, thing(under)?);
    Some(Rate { over, under, factor: up / down })
}

/// One kind of thing in one writing, with how many of them are meant.
fn thing(text: &str) -> Option<(String, f64)> {
    let text = text.trim().trim_matches(['(', ')']).to_lowercase();
    if let Some(factor) = unit::factor(&text, "s") {
        return Some(("s".to_owned(), factor));
    }
    let bare = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let count: f64 = text[..text.len() - bare.len()].trim().parse().unwrap_or(1.0);
    let (factor, bare) = match bare.split_once(' ') {
        Some(("m" | "million", rest)) => (1e6, rest),
        Some(("k" | "thousand", rest)) => (1e3, rest),
        _ => (1.0, bare),
    };
    let name = match bare {
        "$" | "usd" | "dollar" | "dollars" | "cost" => "$".to_owned(),
        "op" | "ops" | "operation" | "operations" | "iter" => "op".to_owned(),
        "sec" | "second" => "s".to_owned(),
        word if !word.is_empty() && word.chars().all(char::is_alphabetic) => stem(word),
        _ => return None,
    };
    Some((name, count * factor))
}

/// `Total` beside columns of its unit.
fn total(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let named = |column: &usize| {
        let mut words = stems(&table.columns[*column]);
        words.retain(|word| unit::known(word).is_none());
        words.contains("total") || words == BTreeSet::from(["sum".to_owned()])
    };
    let Some(total) = lone((1..table.columns.len()).filter(named)) else { return };
    let unit = unit_of(table, total);
    let is_part = |column: &usize| {
        let header = &table.columns[*column];
        let has = table.rows.iter().any(|row| row.cells[*column].number.is_some());
        // Means of parts add up to the mean of the whole; other statistics do not.
        let role = grid.columns()[*column].role;
        let statistic = role.is_statistic() && role != Role::Mean;
        *column != total && has && !is_change(header) && !is_setting(header) && !statistic
    };
    let parts: Vec<usize> = (1..table.columns.len())
        .filter(is_part)
        .filter(|column| unit_of(table, *column) == unit)
        .collect();
    if parts.len() < 2 {
        return;
    }
    let expected = (0..table.rows.len()).filter_map(|row| {
        let parts: Option<Vec<Span>> =
            parts.iter().map(|part| number(grid, row, *part).map(Span::of)).collect();
        let sum = parts?.into_iter().reduce(Span::plus)?;
        Some((row, sum, "the sum of the other columns".to_owned()))
    });
    judge(grid, total, expected.collect(), Check::TotalOfColumns, book);
}

/// `Average` beside columns of its unit.
fn average(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let named = |column: &usize| stems(&table.columns[*column]) == BTreeSet::from(["mean".into()]);
    let Some(average) = lone((1..table.columns.len()).filter(named)) else { return };
    let unit = unit_of(table, average);
    let parts: Vec<usize> = values(grid)
        .into_iter()
        .filter(|column| *column != average && unit_of(table, *column) == unit)
        .collect();
    let plain = parts.iter().all(|part| !grid.columns()[*part].role.is_statistic());
    if parts.len() < 2 || !plain {
        return;
    }
    let expected = (0..table.rows.len()).filter_map(|row| {
        let parts: Option<Vec<Span>> =
            parts.iter().map(|part| number(grid, row, *part).map(Span::of)).collect();
        let mean = crate::checks::moments::mean_of(&parts?)?;
        Some((row, mean, "the mean of the other columns".to_owned()))
    });
    judge(grid, average, expected.collect(), Check::AverageOfColumns, book);
}

/// `Share` or `%` of the only column of values.
fn share(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let shares = ["share", "percentage", "percent", "fraction"];
    let named = |column: &usize| {
        let header = &table.columns[*column];
        (says(header, &shares) || header.trim() == "%") && !is_change(header)
    };
    let Some(column) = lone((1..table.columns.len()).filter(named)) else { return };
    let plain = |other: &usize| *other != column && !is_change(&table.columns[*other]);
    let numeric = |other: &usize| {
        table.rows.iter().filter(|row| row.cells[*other].number.is_some()).count() >= 2
    };
    let Some(value) = lone((1..table.columns.len()).filter(plain).filter(numeric)) else { return };
    let names = table.row_names();
    let is_total = |row: &usize| says(&names[*row], &["total", "sum", "all", "overall"]);
    let rows = 0..table.rows.len();
    let whole = match rows.clone().find(|row| is_total(row)) {
        Some(row) => number(grid, row, value).map(Span::of),
        None => {
            rows.clone().filter_map(|row| number(grid, row, value).map(Span::of)).reduce(Span::plus)
        }
    };
    let Some(whole) = whole else { return };
    let expected = rows.filter_map(|row| {
        let part = Span::of(number(grid, row, value)?);
        let percent = number(grid, row, column)?.unit.as_deref() == Some("%");
        let share = part.over(whole)?.times(if percent { 100.0 } else { 1.0 });
        Some((row, share, format!("`{}` over their sum", table.columns[value])))
    });
    judge(grid, column, expected.collect(), Check::ShareOfTotal, book);
}

/// Reports what most rows bear out and some do not: names alone leave open whether a table has all
/// parts.
pub(super) fn judge(
    grid: &Grid<'_>,
    column: usize,
    expected: Expected,
    check: Check,
    book: &mut Book,
) {
    let stated = |row: usize| number(grid, row, column);
    let fits = |(row, span, _): &&(usize, Span, String)| {
        stated(*row).is_some_and(|stated| Span::of(stated).meets(*span))
    };
    let judged = expected.iter().filter(|(row, ..)| stated(*row).is_some()).count();
    let fitting = expected.iter().filter(fits).count();
    if fitting < 2 || 3 * fitting < 2 * judged {
        return;
    }
    for (row, span, how) in &expected {
        let Some(printed) = stated(*row) else { continue };
        let found = (!Span::of(printed).meets(*span))
            .then(|| found(grid, (*row, column), check, printed, *span, how));
        book.cell(grid.table.rows[*row].line, column, found);
    }
}

fn found(
    grid: &Grid<'_>,
    (row, column): (usize, usize),
    check: Check,
    stated: &Printed,
    allowed: Span,
    how: &str,
) -> Found {
    let place = grid.spot(row, column);
    let wrong = Mismatch::of(stated, allowed, how.to_owned());
    Found::mismatch(check, Severity::Inconsistent, place, stated, &wrong)
}
