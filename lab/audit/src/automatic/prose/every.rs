//! `All variants stay below 5 ms`: a bound of every row, against the column that it names.

use std::sync::LazyLock;

use regex::Regex;

use super::{Page, spoken};
use crate::automatic::book::Book;
use crate::automatic::column::number;
use crate::automatic::sentence::shown;
use crate::automatic::words::says;
use crate::checks::Span;
use crate::{Check, Printed, Sentence};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b(all|every|each|no|none) \s ([^.;:]{0,90}?) \b
        (above|over|exceed(?:s|ed)?|more\sthan|greater\sthan|higher\sthan|at\sleast|below|under|
        less\sthan|fewer\sthan|lower\sthan|at\smost|achieve[sd]?|reach(?:es|ed)?|deliver(?:s|ed)?|
        sustain(?:s|ed)?|maintain(?:s|ed)?) \s+ ([<>≤≥]=?\s?)?
        (\d[\d,]*(?:\.\d+)?\+?\s?(?:%|x\b|×|[a-zµ]{1,6}(?:/[a-z]{1,6})?))",
    )
    .ok()
});

/// Words of a sentence that does not speak of what was measured of all.
const OTHER: [&str; 22] = [
    "except", "but", "unless", "should", "must", "would", "could", "may", "might", "if", "when",
    "until", "target", "expected", "goal", "most", "almost", "nearly", "other", "than", "not",
    "average",
];

/// Rows that miss a bound by less are noise to who writes it.
const LEAST: f64 = 0.002;

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let word = groups[3].to_lowercase();
    // "Less than" holds the word "than", which compares elsewhere.
    let bare = sentence.text.replace(&groups[3], "");
    if says(&bare, &OTHER) {
        return;
    }
    let Some(stated) = Printed::parse(&groups[5].replace('+', "")) else { return };
    let lower = ["below", "under", "less than", "fewer than", "lower than", "at most"];
    let mark = groups.get(4).map_or("", |group| group.as_str());
    let upper_bound = lower.contains(&word.as_str()) || mark.contains(['<', '≤']);
    let denied = ["no", "none"].contains(&&*groups[1].to_lowercase());
    let upper_bound = upper_bound != denied;
    let beyond = |number: &Printed| {
        let (own, bound) = (Span::of(number), Span::exact(stated.value));
        let far = (number.value - stated.value).abs() > LEAST * stated.value.abs();
        far && if upper_bound { bound.below(own) } else { own.below(bound) }
    };
    for tied in page.beside(sentence) {
        let columns = spoken::columns(tied, &sentence.text, &stated);
        let rows = spoken::rows(tied, &sentence.text);
        let Some(rows) = spoken::with_settings(tied, &sentence.text, rows) else { continue };
        if columns.is_empty() || rows.len() < 2 {
            continue;
        }
        let broken = |column: &usize| {
            let row = rows.iter().find(|row| number(tied.grid, **row, *column).is_some_and(beyond));
            row.map(|row| (*row, *column))
        };
        let all: Vec<(usize, usize)> = columns.iter().filter_map(broken).collect();
        let found = (all.len() == columns.len()).then(|| {
            let (row, column) = all[0];
            let table = tied.table();
            let (name, cell) = (tied.name(row), &table.rows[row].cells[column].text);
            let text = format!(
                "{} is stated as a bound of all; `{}` of {name} is {cell} (line {})",
                shown(&stated),
                table.columns[column],
                table.rows[row].line
            );
            let how = "the column that the sentence names, in every row that it can mean";
            page.found(Check::BoundOfAllRows, sentence, table.rows[row].line, text, how)
                .values(stated.value, stated.value)
        });
        book.stated(sentence.line, stated.value, found);
        return;
    }
}
