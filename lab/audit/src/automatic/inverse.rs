//! Rates beside the inverse of them.

use super::book::Book;
use super::column::{number, values};
use super::found::Found;
use super::grid::Grid;
use super::stems::stem;
use super::tie::unit_of;
use crate::checks::{Mismatch, Span};
use crate::printed::unit;
use crate::{Check, Printed, Severity};

/// Checks every table.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    if grid.transposed {
        return;
    }
    inverse(grid, book);
}

/// What a column should be in a row.
type Expected = Vec<(usize, Span, String)>;

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

/// Reports what most rows bear out and some do not: names alone leave open whether a table has all
/// parts.
fn judge(grid: &Grid<'_>, column: usize, expected: Expected, check: Check, book: &mut Book) {
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
