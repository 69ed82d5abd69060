//! Tests that print their statistic, its degrees of freedom and its p.

use std::sync::LazyLock;

use regex::Regex;

use super::{p_of_cell, stated_p};
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::grid::{Grid, Record};
use crate::automatic::role::Role;
use crate::checks::tests_of_hypotheses::{Statistic, Tail, p_of, p_of_t, p_of_tail};
use crate::checks::{Mismatch, Span};
use crate::{Check, Document, Place, Printed, SentenceKind, Severity};

/// `t(18) = 2.5, p = 0.001` and its like, as papers print them.
static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) \b(t|F|χ²|χ2|chi2|chi-square|r|z|Z)\s*
        (?:\(\s*(?:df\s*=\s*)?(\d{1,6}(?:\.\d{1,4})?)
        (?:\s*,\s*(?:N\s*=\s*)?(\d{1,6}(?:\.\d{1,4})?))?\s*\))?
        \s*=\s*([-−]?\d{0,6}(?:\.\d{1,6})?)
        [,;\s]{1,4}p\s*([=<>≤≥])\s*(\d?\.\d{1,12}|[01])",
    )
    .ok()
});

/// Checks every sentence and cell.
pub(super) fn check(document: &Document, book: &mut Book) {
    for sentence in document.prose.iter().filter(|one| one.kind != SentenceKind::Code) {
        for groups in TEST.iter().flat_map(|regex| regex.captures_iter(&sentence.text)) {
            let group = |index: usize| groups.get(index).map_or("", |group| group.as_str());
            let Some((p, printed)) = stated_p(group(5), group(6)) else { continue };
            let Some(value) = Printed::parse(group(4)) else { continue };
            let Some(test) = statistic(group(1), group(2), group(3)) else { continue };
            let place = document.at(sentence);
            let wrong = match (tail(&sentence.text), test) {
                (Some(tail), Statistic::T(df)) => p_of_tail(&p, &value, Span::exact(df), tail),
                (Some(tail), Statistic::Z) => p_of_tail(&p, &value, Span::exact(1e6), tail),
                _ => p_of(&p, &value, test),
            };
            let found = wrong.map(|wrong| found(place, &printed, &wrong));
            book.stated(sentence.line, printed.value, found);
        }
    }
}

/// The alternative of a test on one side, where a sentence says both.
fn tail(text: &str) -> Option<Tail> {
    let lower = text.to_lowercase();
    let sided = ["one-sided", "one-tailed", "one sided", "one tailed", "1-sided", "1-tailed"];
    if !sided.iter().any(|words| lower.contains(words)) {
        return None;
    }
    let says = |word: &str| lower.split(|c: char| !c.is_alphabetic()).any(|own| own == word);
    match (says("greater"), says("less")) {
        (true, false) => Some(Tail::Greater),
        (false, true) => Some(Tail::Less),
        _ => None,
    }
}

fn statistic(name: &str, first: &str, second: &str) -> Option<Statistic> {
    let first: Option<f64> = first.parse().ok();
    let second: Option<f64> = second.parse().ok();
    Some(match name {
        "t" => Statistic::T(first?),
        "F" => Statistic::F(first?, second?),
        // A single number in brackets behind r is its degrees of freedom.
        "r" => Statistic::R(first?),
        "z" | "Z" => Statistic::Z,
        _ => Statistic::ChiSquare(first?),
    })
}

fn found(place: Place, stated: &Printed, wrong: &Mismatch) -> Found {
    let sentence = format!(
        "p is stated as {}; {} is {:.2e} to {:.2e}",
        stated.value, wrong.how, wrong.computed_low, wrong.computed_high
    );
    Found::mismatch(Check::POfTest, Severity::Impossible, place, stated, wrong).sentence(sentence)
}

/// One row's columns of t and p, with degrees of freedom or without.
pub(super) fn of_record(grid: &Grid<'_>, record: &Record<'_>, book: &mut Book) {
    let lone =
        |role: Role| crate::automatic::lone(record.stats.iter().filter(|stat| stat.role == role));
    let Some(t) = lone(Role::T) else { return };
    let df = match lone(Role::Degrees) {
        Some(df) if df.number.value >= 1.0 => Span::exact(df.number.value),
        // Any degrees of freedom from 1 on.
        _ => Span { low: 1.0, high: 1e6 },
    };
    let column = grid.columns().iter().position(|meaning| meaning.role == Role::P);
    let Some(column) = column.filter(|_| !grid.transposed) else { return };
    let Some(row) = grid.table.rows.iter().find(|row| row.line == t.line) else { return };
    let cell = &row.cells[column];
    let Some(printed) = cell.numbers.first() else { return };
    let p = p_of_cell(cell, printed);
    let place = Place { column: Some(grid.table.columns[column].clone()), ..grid.place(record, t) };
    let wrong = p_of_t(&p, &t.number, df).map(|wrong| found(place, printed, &wrong));
    book.cell(row.line, column, wrong);
}
