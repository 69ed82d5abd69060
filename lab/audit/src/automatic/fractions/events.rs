//! `All 9 failures occurred at SIZE=2048`: where rows that count something stand.

use std::sync::LazyLock;

use regex::Regex;

use super::{Counted, speaks};
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::stems::{stem, stems};
use crate::{Check, Document, Place, Sentence, SentenceKind, Severity};

/// A name, a sign and the values it can have.
static CONDITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b([A-Za-z_]{1,20})\s?(=|≥|≤|>=|<=|>|<)\s?(\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?)*)").ok()
});

/// `all events occurred …`, `the 3 events were all at …`, and nothing that makes it some of them.
static ALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:all|every|each|only)\b|\bthe \d+ [a-z]+ (?:events?|errors?|failures?) ")
        .ok()
});

const SOME: [&str; 10] =
    ["mostly", "most", "some", "often", "usually", "predicted", "expected", "would", "tr", "vs"];

struct Condition {
    name: String,
    sign: String,
    values: Vec<f64>,
}

impl Condition {
    fn holds(&self, value: f64) -> bool {
        let first = self.values[0];
        match self.sign.as_str() {
            "=" => self.values.contains(&value),
            "≥" | ">=" => value >= first,
            "≤" | "<=" => value <= first,
            ">" => value > first,
            _ => value < first,
        }
    }
}

/// Checks every sentence that says where all counted events were.
pub(super) fn check(document: &Document, counted: &[Counted<'_>], book: &mut Book) {
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        let text = clause(&sentence.text);
        let all = ALL.as_ref().is_some_and(|regex| regex.is_match(text));
        if !all || crate::automatic::words::says(text, &SOME) {
            continue;
        }
        let conditions = conditions(text);
        let of: Vec<&Counted<'_>> = counted
            .iter()
            .filter(|one| speaks(text, one))
            .filter(|one| near(one, sentence))
            .collect();
        if !conditions.is_empty() && !of.is_empty() {
            judge(document, sentence, &conditions, &of, book);
        }
    }
}

/// What stands before the first pause behind the conditions, without another share of the events.
fn clause(text: &str) -> &str {
    let end = text.find(", with ").or_else(|| text.find(';')).unwrap_or(text.len());
    &text[..end]
}

fn conditions(text: &str) -> Vec<Condition> {
    let all = CONDITION.iter().flat_map(|regex| regex.captures_iter(text));
    let read = |groups: regex::Captures<'_>| {
        let values: Vec<f64> = groups[3].split('/').filter_map(|one| one.parse().ok()).collect();
        let name = stem(&groups[1].to_lowercase());
        (!values.is_empty()).then(|| Condition { name, sign: groups[2].to_owned(), values })
    };
    all.filter_map(read).collect()
}

/// Whether a table stands above a sentence in its section, or anywhere above where its section
/// has none.
fn near(counted: &Counted<'_>, sentence: &Sentence) -> bool {
    counted.table.line < sentence.line && counted.table.headings == sentence.headings
}

fn judge(
    document: &Document,
    sentence: &Sentence,
    conditions: &[Condition],
    of: &[&Counted<'_>],
    book: &mut Book,
) {
    let Some(table) = of.last().map(|one| one.table) else { return };
    let Some(one) = of.last() else { return };
    for condition in conditions {
        let named = |column: &usize| stems(&table.columns[*column]).contains(&condition.name);
        let columns: Vec<usize> = (0..table.columns.len()).filter(named).collect();
        if columns.is_empty() {
            continue;
        }
        let met = |row: usize| {
            columns.iter().any(|column| {
                let number = table.rows[row].cells[*column].numbers.first();
                number.is_none_or(|number| condition.holds(number.value))
            })
        };
        let counted = (0..one.rows.len()).filter(|row| one.rows[*row].0 > 0.0);
        let elsewhere: Vec<usize> = counted.filter(|row| !met(*row)).collect();
        let value = condition.values[0];
        let found = elsewhere.first().map(|row| {
            let place = Place {
                document: document.name.clone(),
                line: Some(sentence.line),
                section: sentence.headings.join(" > "),
                ..Place::default()
            };
            let line = table.rows[*row].line;
            let text = format!(
                "all are said to be at {} {} {value}; line {line} has `{}` {} elsewhere",
                condition.name,
                condition.sign,
                table.columns[one.column],
                table.rows[*row].cells[one.column].text
            );
            let against = Place { line: Some(line), ..place.clone() };
            let how = "the rows that count any, by the columns that the sentence names";
            Found::remark(Check::EventsElsewhere, Severity::Inconsistent, place, text, how)
                .against(against)
        });
        book.stated(sentence.line, value, found);
    }
}
