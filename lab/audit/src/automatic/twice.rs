//! One quantity that a table and a list, a sentence or another table state.

use super::book::Book;
use super::found::Found;
use super::role::{self, Meaning, Role};
use super::sentence::shown;
use super::tie::{Tied, aligned, meaning};
use super::words::{says, tokens};
use crate::checks::bounds;
use crate::{Document, Place, Printed, Sentence, SentenceKind, Severity, Table};

/// Words of a sentence that compares, plans or guesses.
const OTHER: [&str; 38] = [
    "higher",
    "lower",
    "faster",
    "slower",
    "more",
    "less",
    "fewer",
    "better",
    "worse",
    "gain",
    "loss",
    "improvement",
    "reduction",
    "increase",
    "decrease",
    "gap",
    "difference",
    "delta",
    "predicted",
    "expected",
    "target",
    "would",
    "could",
    "should",
    "if",
    "estimate",
    "estimated",
    "vs",
    "versus",
    "than",
    "compared",
    "from",
    "variance",
    "range",
    "between",
    "drop",
    "overhead",
    "penalty",
];

/// Words that name a statistic.
const STATISTICS: [&str; 22] = [
    "mean", "average", "averaged", "avg", "median", "p50", "p90", "p95", "p99", "max", "maximum",
    "peak", "peaks", "peaked", "min", "minimum", "best", "worst", "total", "std", "cold", "warm",
];

/// Checks lists under a heading that names a row, and sentences that name a row and a column.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    for list in &document.lists {
        of_list(document, list, tables, book);
    }
    let prose = document.prose.iter().filter(|one| one.kind == SentenceKind::Prose);
    for sentence in prose {
        of_sentence(document, sentence, tables, book);
    }
}

/// The heading right above, without its number.
fn subject(list: &Table) -> Option<String> {
    let heading = list.headings.last()?;
    Some(heading.trim_start_matches(|c: char| c.is_ascii_digit() || ". )".contains(c)).to_owned())
}

fn of_list(document: &Document, list: &Table, tables: &[Tied<'_, '_>], book: &mut Book) {
    let Some(subject) = subject(list) else { return };
    for tied in tables {
        let Some(row) = tied.row(&subject) else { continue };
        for item in &list.rows {
            let [name, value, ..] = &item.cells[..] else { continue };
            let Some(stated) = value.numbers.first() else { continue };
            let wanted = role::statistic(&name.text).unwrap_or_else(|| meaning(&name.text));
            let columns = tied.columns(&wanted, stated.unit.as_deref());
            let [column] = columns[..] else { continue };
            if !same_statistic(&wanted, &tied.grid.columns()[column]) {
                continue;
            }
            let place = place(document, item.line, &list.section());
            compare(tied, (row, column), stated, &place, book);
        }
    }
}

fn same_statistic(a: &Meaning, b: &Meaning) -> bool {
    a.role == b.role || a.role == Role::Value && b.role == Role::Mean
}

fn of_sentence(document: &Document, sentence: &Sentence, tables: &[Tied<'_, '_>], book: &mut Book) {
    if says(&sentence.text, &OTHER) || sentence.numbers.is_empty() {
        return;
    }
    for tied in tables.iter().filter(|tied| about(tied.table(), sentence)) {
        let [row] = tied.rows_in(&sentence.text)[..] else { continue };
        for (index, stated) in sentence.numbers.iter().enumerate() {
            let alone = sentence
                .numbers
                .iter()
                .enumerate()
                .all(|(other, number)| other == index || number.unit != stated.unit);
            let Some(unit) = stated.unit.as_deref().filter(|_| alone) else { continue };
            let columns: Vec<usize> = (1..tied.table().columns.len())
                .filter(|column| said(tied, *column, unit, sentence))
                .collect();
            if let [column] = columns[..] {
                let place = place(document, sentence.line, &sentence.headings.join(" > "));
                compare(tied, (row, column), stated, &place, book);
            }
        }
    }
}

/// Whether a table and a sentence stand in one section of the document, or the sentence in a
/// summary before all sections.
fn about(table: &Table, sentence: &Sentence) -> bool {
    let depth = table.headings.len().min(sentence.headings.len()).min(2);
    table.headings[..depth] == sentence.headings[..depth]
}

/// Whether a sentence names a column: every word of its metric, and its statistic.
fn said(tied: &Tied<'_, '_>, column: usize, unit: &str, sentence: &Sentence) -> bool {
    let table = tied.table();
    let own = &tied.grid.columns()[column];
    if super::tie::unit_of(table, column).as_deref() != Some(unit)
        || super::column::is_change(&table.columns[column])
    {
        return false;
    }
    let words = tokens(&sentence.text);
    let metric = tokens(&own.metric);
    let spoken: Vec<&str> =
        STATISTICS.iter().copied().filter(|word| words.contains(*word)).collect();
    let header = tokens(&table.columns[column]);
    let statistic = match own.role {
        Role::Value => spoken.iter().all(|word| header.contains(*word)),
        Role::Mean => {
            spoken.iter().all(|word| ["mean", "average", "averaged", "avg"].contains(word))
        }
        _ => !spoken.is_empty() && spoken.iter().all(|word| header.contains(*word)),
    };
    statistic && !metric.is_empty() && metric.is_subset(&words)
}

fn compare(
    tied: &Tied<'_, '_>,
    (row, column): (usize, usize),
    stated: &Printed,
    place: &Place,
    book: &mut Book,
) {
    let table = tied.table();
    let Some(known) = table.rows[row].cells[column].number.as_ref() else { return };
    let Some(known) = aligned(known, stated) else { return };
    let line = table.rows[row].line;
    if place.line == Some(line) {
        return;
    }
    let wrong = bounds::differ(stated, &known).map(|mismatch| {
        let sentence = format!(
            "{} is stated here; `{}` of {} is {} in line {line}",
            shown(stated),
            table.columns[column],
            tied.name(row),
            shown(&known)
        );
        let against = Place {
            line: Some(line),
            row: Some(tied.name(row).to_owned()),
            column: Some(table.columns[column].clone()),
            ..place.clone()
        };
        Found::mismatch("stated_twice", Severity::Inconsistent, place.clone(), stated, &mismatch)
            .sentence(sentence)
            .against(against)
    });
    book.stated(place.line.unwrap_or(0), stated.value, wrong);
}

fn place(document: &Document, line: usize, section: &str) -> Place {
    Place {
        document: document.name.clone(),
        line: Some(line),
        section: section.to_owned(),
        ..Place::default()
    }
}
