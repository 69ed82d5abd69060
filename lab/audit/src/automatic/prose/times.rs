//! `… almost 8 times faster` below a small table of two sides: no two of its numbers give it.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::column::values;
use crate::automatic::grid::in_unit;
use crate::automatic::stems::is_rate;
use crate::automatic::words::says;
use crate::checks::Span;
use crate::printed::unit;
use crate::{Check, Printed, Sentence, Table};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) (?:^|\s|\()(almost|nearly|about|around|roughly|over|more\sthan|up\sto|at\sleast)?\s?
        (\d{1,4}(?:\.\d{1,2})?)(?:\s?x|\s?×|\stimes)\s+(faster|slower|quicker)\b",
    )
    .ok()
});

/// Larger tables have some pair for any factor.
const MOST_ROWS: usize = 4;

/// How far a factor that people say may lie from the one that they mean.
const LOOSE: f64 = 0.1;

/// Lines between a table and what is said of it.
const REACH: usize = 8;

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    // "Than" names the other side, which may stand elsewhere.
    if says(&sentence.text, &["than", "vs", "versus", "compared", "if", "would", "could"]) {
        return;
    }
    let Ok(stated) = groups[2].parse::<f64>() else { return };
    let bound = groups.get(1).map_or(String::new(), |group| group.as_str().to_lowercase());
    let near = page.beside(sentence).into_iter().find(|tied| {
        let table = tied.table();
        let last = table.rows.last().map_or(table.line, |row| row.line);
        last < sentence.line && sentence.line <= last + REACH
    });
    let Some(tied) = near.filter(|tied| values(tied.grid).len() == 2) else { return };
    let table = tied.table();
    let factors = factors(table, &values(tied.grid));
    if factors.is_empty() || table.rows.len() > MOST_ROWS {
        return;
    }
    let fits = |factor: &Span| {
        let more = factor.minus(Span::exact(1.0));
        [*factor, more].iter().any(|one| match bound.as_str() {
            "over" | "more than" | "at least" => one.high >= stated,
            "up to" => one.high >= stated * (1.0 - LOOSE),
            "almost" | "nearly" => Span { low: stated * (1.0 - LOOSE), high: stated }.meets(*one),
            _ => Span { low: stated * (1.0 - LOOSE), high: stated * (1.0 + LOOSE) }.meets(*one),
        })
    };
    let found = (!factors.iter().any(fits)).then(|| {
        let shown: Vec<String> =
            factors.iter().map(|factor| format!("{:.2}", factor.middle())).collect();
        let text = format!(
            "{stated} times is stated; the times of the table above differ by {} times",
            shown.join(", ")
        );
        let how = "the ratio of both columns in every row of times or rates";
        page.found(Check::TimesFaster, sentence, table.line, text, how).values(stated, 0.0)
    });
    book.stated(sentence.line, stated, found);
}

/// How many times as large the larger of two columns is, in rows of times and rates.
fn factors(table: &Table, columns: &[usize]) -> Vec<Span> {
    let [a, b] = columns[..] else { return Vec::new() };
    // Columns with units of their own are two metrics, and no two sides.
    if a != b && [a, b].iter().all(|column| table.units[*column].is_some()) {
        return Vec::new();
    }
    let speed = |number: &Printed| {
        number.unit.as_deref().is_some_and(|own| unit::factor(own, "s").is_some() || is_rate(own))
    };
    let of_row = |row: &crate::TableRow| {
        let (a, b) = (row.cells[a].number.as_ref()?, row.cells[b].number.as_ref()?);
        let b = in_unit(b, a.unit.as_deref()?)?;
        let (large, small) = if a.value >= b.value { (a, &b) } else { (&b, a) };
        speed(a).then(|| Span::of(large).over(Span::of(small)))?
    };
    table.rows.iter().filter_map(of_row).collect()
}
