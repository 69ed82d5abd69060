//! `Best: GPU=120, CTX=1024 → 1.838x, 91.9 %`: one row of a table, told by its settings.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::found::Found;
use super::sentence::shown;
use super::tie::Tied;
use super::words::{says, tokens};
use crate::checks::{Span, bounds};
use crate::{Check, Document, Place, Printed, Sentence, SentenceKind, Severity};

static SETTING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b([A-Za-z_]{1,20})\s?=\s?(\d+(?:\.\d+)?)([/\d.]*)").ok());

/// Words that make several rows, other data or a bound of it.
const OTHER: [&str; 12] = [
    "vs", "versus", "than", "all", "both", "across", "gain", "gap", "expected", "range", "configs",
    "compared",
];

/// Checks every sentence with settings against the one row that has them, in the tables of its
/// own section.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let prose = document.prose.iter().filter(|one| one.kind == SentenceKind::Prose);
    for sentence in prose.filter(|one| one.text.contains('=')) {
        // A list that compares names other data.
        let list = document.lists.iter().rev().find(|list| list.line <= sentence.line);
        let compares = list.is_some_and(|list| {
            sentence.list > 0 && says(&list.caption, &["comparison", "compared"])
        });
        if says(&sentence.text, &OTHER) || compares {
            continue;
        }
        let settings = settings(&sentence.text);
        let near = tables.iter().rev().find(|tied| {
            tied.table().line < sentence.line && tied.table().headings == sentence.headings
        });
        if let Some((settings, tied)) = settings.zip(near)
            && let Some(row) = row(tied, &settings)
        {
            of_row(document, sentence, tied, row, book);
        }
    }
}

/// Every `NAME=number`, each name once.
pub(crate) fn settings(text: &str) -> Option<Vec<(String, f64)>> {
    let mut found: Vec<(String, f64)> = Vec::new();
    for groups in SETTING.as_ref()?.captures_iter(text) {
        let name = groups[1].to_lowercase();
        if !groups[3].is_empty() || found.iter().any(|(known, _)| *known == name) {
            return None;
        }
        found.push((name, groups[2].parse().ok()?));
    }
    (found.len() >= 2).then_some(found)
}

/// The one row that has these settings.
pub(crate) fn row(tied: &Tied<'_, '_>, settings: &[(String, f64)]) -> Option<usize> {
    let table = tied.table();
    let mut columns: Vec<(usize, f64)> = Vec::new();
    for (name, value) in settings {
        let named = |header: &String| tokens(header).contains(name);
        // What is the same in all rows stands above the table.
        let Some(column) = table.columns.iter().position(named) else { continue };
        columns.push((column, *value));
    }
    let fits = |row: &usize| {
        columns.iter().all(|(column, value)| {
            table.rows[*row].cells[*column].numbers.first().is_some_and(|n| n.value == *value)
        })
    };
    let mut rows = (0..table.rows.len()).filter(fits);
    let row = rows.next().filter(|_| columns.len() >= 2)?;
    rows.next().is_none().then_some(row)
}

fn of_row(
    document: &Document,
    sentence: &Sentence,
    tied: &Tied<'_, '_>,
    row: usize,
    book: &mut Book,
) {
    let cells = &tied.table().rows[row];
    for stated in sentence.numbers.iter().filter(|number| number.unit.is_some()) {
        let known: Vec<&Printed> = cells
            .cells
            .iter()
            .flat_map(|cell| &cell.numbers)
            .filter(|n| n.unit == stated.unit)
            .collect();
        let Some(near) = known.iter().min_by(|a, b| {
            let away = |n: &Printed| (n.value - stated.value).abs();
            away(a).total_cmp(&away(b))
        }) else {
            continue;
        };
        let fits = known.iter().any(|number| Span::of(number).meets(Span::of(stated)));
        let wrong = (!fits).then(|| bounds::differ(stated, near)).flatten();
        let found = wrong.map(|wrong| {
            let place = Place {
                document: document.name.clone(),
                line: Some(sentence.line),
                section: sentence.headings.join(" > "),
                ..Place::default()
            };
            let against = Place { line: Some(cells.line), ..place.clone() };
            let sentence = format!(
                "{} is stated; the row with these settings has {} (line {})",
                shown(stated),
                shown(near),
                cells.line
            );
            Found::mismatch(Check::StatedOfRow, Severity::Inconsistent, place, stated, &wrong)
                .sentence(sentence)
                .against(against)
        });
        book.stated(sentence.line, stated.value, found);
    }
}
