//! One quantity that a table and a list, a sentence or another table state.

use super::book::Book;
use super::found::Found;
use super::role::{self, Meaning, Role};
use super::sentence::shown;
use super::tie::{Tied, agrees, aligned, meaning};
use super::words::{COMPARING, says, tokens};
use crate::automatic::lexicon::{Words, class};
use crate::automatic::lone;
use crate::checks::bounds;
use crate::{Check, Document, Place, Printed, Sentence, SentenceKind, Severity, Table};

/// Words of a sentence that compares, plans or guesses, beside those of a difference.
static OTHER: Words = Words::new(|| class("twice.other"));

/// Words that name a statistic.
static STATISTICS: Words = Words::new(|| class("twice.statistics"));

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
    for item in &list.rows {
        let [name, value, ..] = &item.cells[..] else { continue };
        let Some(stated) = value.numbers.first() else { continue };
        let wanted = role::statistic(&name.text).unwrap_or_else(|| meaning(&name.text));
        let cell = |tied: &Tied<'_, '_>| {
            let row = tied.row(&subject)?;
            let columns = tied.columns(&wanted, stated.unit.as_deref());
            let [column] = columns[..] else { return None };
            let same = same_statistic(&wanted, &tied.grid.columns()[column]);
            same.then_some((row, column))
        };
        let place = place(document, item.line, &list.section());
        compare(tables, cell, (&name.text, stated), &place, book);
    }
}

fn same_statistic(a: &Meaning, b: &Meaning) -> bool {
    a.role == b.role || a.role == Role::Value && b.role == Role::Mean
}

fn of_sentence(document: &Document, sentence: &Sentence, tables: &[Tied<'_, '_>], book: &mut Book) {
    let compares = says(&sentence.text, &COMPARING) || says(&sentence.text, &OTHER);
    if compares || sentence.numbers.is_empty() {
        return;
    }
    for (index, stated) in sentence.numbers.iter().enumerate() {
        let alone = sentence
            .numbers
            .iter()
            .enumerate()
            .all(|(other, number)| other == index || number.unit != stated.unit);
        let Some(unit) = stated.unit.as_deref().filter(|_| alone) else { continue };
        let cell = |tied: &Tied<'_, '_>| {
            let [row] = tied.rows_in(&sentence.text)[..] else { return None };
            let column = lone(
                (1..tied.table().columns.len())
                    .filter(|column| said(tied, *column, unit, sentence)),
            )?;
            let sure = names_metric(tied, column, sentence) || !has(tied, row, stated);
            (sure && about(tied.table(), sentence)).then_some((row, column))
        };
        let place = place(document, sentence.line, &sentence.headings.join(" > "));
        compare(tables, cell, (&sentence.text, stated), &place, book);
    }
}

/// Whether a sentence says the words of a column's metric, and not its statistic or unit alone.
fn names_metric(tied: &Tied<'_, '_>, column: usize, sentence: &Sentence) -> bool {
    let metric = tokens(&tied.grid.columns()[column].metric);
    !metric.is_empty() && metric.is_subset(&tokens(&sentence.text))
}

/// Whether some cell of a row has a number.
fn has(tied: &Tied<'_, '_>, row: usize, stated: &Printed) -> bool {
    let numbers = tied.table().rows[row].cells.iter().flat_map(|cell| &cell.numbers);
    let mut aligned = numbers.filter_map(|number| aligned(number, stated));
    aligned.any(|number| bounds::differ(stated, &number).is_none())
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
    if !statistic {
        return false;
    }
    if metric.is_empty() {
        // "Mean (ms)": the statistic alone names it.
        return own.role.is_statistic() && !spoken.is_empty();
    }
    metric.is_subset(&words) || is_only_rate(tied, column, unit)
}

/// Whether a column is the only one in the unit of a rate, which then says what is measured.
fn is_only_rate(tied: &Tied<'_, '_>, column: usize, unit: &str) -> bool {
    let other = |index: &usize| {
        *index != column && super::tie::unit_of(tied.table(), *index).as_deref() == Some(unit)
    };
    let plain = matches!(tied.grid.columns()[column].role, Role::Value | Role::Mean);
    let bytes = unit.to_lowercase().ends_with("b/s");
    let rate = super::stems::is_rate(unit) || bytes;
    plain && rate && !(1..tied.table().columns.len()).any(|index| other(&index))
}

/// Compares a number with the cell that says the same. Of several such cells one that agrees is
/// meant; where several disagree, it is not clear which is.
fn compare<'g, 'a>(
    tables: &[Tied<'g, 'a>],
    cell: impl Fn(&Tied<'g, 'a>) -> Option<(usize, usize)>,
    (text, stated): (&str, &Printed),
    place: &Place,
    book: &mut Book,
) {
    let known = |tied: &Tied<'g, 'a>| {
        let (row, column) = cell(tied)?;
        let line = tied.table().rows[row].line;
        let number = tied.table().rows[row].cells[column].number.as_ref()?;
        let number = aligned(number, stated).filter(|_| place.line != Some(line))?;
        let name = tied.name(row).to_owned();
        Some((number, line, name, tied.table().columns[column].clone()))
    };
    let all: Vec<_> = tables.iter().filter_map(known).collect();
    let spot = place.line.unwrap_or(0);
    if all.iter().any(|(number, ..)| agrees(text, stated, number)) {
        book.stated(spot, stated.value, None);
        return;
    }
    let [(number, line, name, header)] = &all[..] else { return };
    let wrong = bounds::differ(stated, number).map(|mismatch| {
        let sentence = format!(
            "{} is stated here; `{header}` of {name} is {} in line {line}",
            shown(stated),
            shown(number)
        );
        let against = Place {
            line: Some(*line),
            row: Some(name.clone()),
            column: Some(header.clone()),
            ..place.clone()
        };
        Found::mismatch(
            Check::StatedTwice,
            Severity::Inconsistent,
            place.clone(),
            stated,
            &mismatch,
        )
        .sentence(sentence)
        .against(against)
    });
    book.stated(spot, stated.value, wrong);
}

fn place(document: &Document, line: usize, section: &str) -> Place {
    Place {
        document: document.name.clone(),
        line: Some(line),
        section: section.to_owned(),
        ..Place::default()
    }
}
