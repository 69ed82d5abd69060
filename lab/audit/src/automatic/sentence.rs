//! Arithmetic within one sentence or cell, which needs nothing else to be checked.

mod change;
mod equation;
pub(crate) mod share;
mod units;

use super::book::Book;
use super::found::Found;
use crate::{Check, Document, Place, Printed, Sentence, SentenceKind, Severity, Table};

/// A text and where it stands.
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    pub(crate) place: Place,
    /// Its cell, where it stands in a table.
    pub(crate) column: Option<usize>,
}

/// A number of a text against what the text's other numbers give.
pub(crate) struct Verdict {
    pub(crate) stated: Printed,
    /// What is wrong with it, where something is.
    pub(crate) wrong: Option<Wrong>,
}

/// Why a number cannot be.
pub(crate) struct Wrong {
    pub(crate) check: Check,
    pub(crate) severity: Severity,
    pub(crate) computed: f64,
    pub(crate) sentence: String,
    pub(crate) how: String,
}

/// Checks every sentence, list item, line of code and cell of a document.
pub(crate) fn check(document: &Document, book: &mut Book) {
    for sentence in document.prose.iter().filter(|one| one.kind != SentenceKind::Heading) {
        of_text(&of_sentence(document, sentence), book);
    }
    for table in &document.tables {
        of_table(document, table, book);
    }
    share::of_lists(document, book);
}

fn of_sentence<'a>(document: &Document, sentence: &'a Sentence) -> Text<'a> {
    let place = document.at(sentence);
    Text { text: &sentence.text, place, column: None }
}

fn of_table(document: &Document, table: &Table, book: &mut Book) {
    for row in table.rows.iter().filter(|row| row.line > 0) {
        for (column, cell) in row.cells.iter().enumerate() {
            // One number alone states no arithmetic.
            let divided = cell.text.contains(['/', '=', '→']) || cell.text.contains("vs");
            if !divided {
                continue;
            }
            let place = Place {
                document: document.name.clone(),
                line: Some(row.line),
                section: table.section(),
                row: row.cells.first().map(|cell| cell.text.clone()),
                column: table.columns.get(column).cloned(),
            };
            of_text(&Text { text: &cell.text, place, column: Some(column) }, book);
        }
    }
}

fn of_text(text: &Text<'_>, book: &mut Book) {
    let verdicts = share::verdicts(text.text)
        .into_iter()
        .chain(equation::verdicts(text.text))
        .chain(change::verdicts(text.text))
        .chain(units::verdicts(text.text));
    for Verdict { stated, wrong } in verdicts {
        let found = wrong.map(|wrong| {
            let place = text.place.clone();
            Found::remark(wrong.check, wrong.severity, place, wrong.sentence, &wrong.how)
                .values(stated.value, wrong.computed)
        });
        match (text.place.line, text.column) {
            (Some(line), Some(column)) => book.cell(line, column, found),
            (line, _) => book.stated(line.unwrap_or(0), stated.value, found),
        }
    }
}

/// A number as it was printed, with its unit.
pub(crate) fn shown(printed: &Printed) -> String {
    let unit = match printed.unit.as_deref() {
        Some("%") => " %".to_owned(),
        Some(unit @ ("x" | "pp")) => unit.to_owned(),
        Some(unit) => format!(" {unit}"),
        None => String::new(),
    };
    format!("{}{unit}", super::found::number(printed.value, printed.decimals))
}
