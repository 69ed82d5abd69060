//! `alder: 12.5 ms median latency`, `12.5 ms for alder`: a number right beside a name that a table
//! has, and the table's number of that name.

use std::collections::BTreeSet;

use super::book::Book;
use super::column::{is_change, values};
use super::found::Found;
use super::role::{self, Role};
use super::sentence::shown;
use super::stems::{is_rate, stems};
use super::tie::{Tied, agrees, aligned, meaning};
use super::words::{COMPARING, says, tokens};
use crate::document::header;
use crate::printed::scan;
use crate::{Check, Document, Place, Printed, Sentence, SentenceKind, Severity, Table};

/// What the first header of a table says whose rows are metrics.
const METRICS: [&str; 9] = [
    "metric",
    "measure",
    "statistic",
    "aspect",
    "criterion",
    "criteria",
    "indicator",
    "dimension",
    "property",
];

/// Words that say in which state something was measured. A number in one is none of another.
const STATES: [&str; 24] = [
    "baseline",
    "optimized",
    "optimised",
    "tuned",
    "untuned",
    "default",
    "before",
    "after",
    "cold",
    "warm",
    "best",
    "worst",
    "old",
    "new",
    "previous",
    "initial",
    "final",
    "first",
    "expected",
    "target",
    "predicted",
    "theoretical",
    "single",
    "phase",
];

/// Words of statistics.
const STATISTICS: [&str; 16] = [
    "p50",
    "p90",
    "p95",
    "p99",
    "max",
    "maximum",
    "min",
    "minimum",
    "median",
    "peak",
    "std",
    "cv",
    "deviation",
    "total",
    "range",
    "variance",
];

/// Words around a number that make it a difference or a bound, beside those that compare.
const RELATIVE: [&str; 8] = ["by", "over", "above", "below", "under", "least", "most", "to"];

/// A table elsewhere is meant only where it has nearly what is stated.
const NEAR: f64 = 1.25;

/// A cell with its names.
struct Known<'a> {
    table: &'a Table,
    subject: String,
    metric: BTreeSet<String>,
    role: Role,
    /// The words of its row and column.
    words: BTreeSet<String>,
    number: &'a Printed,
    line: usize,
}

/// Checks every number beside a name.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let known: Vec<Known<'_>> = tables.iter().flat_map(cells).collect();
    let subjects: BTreeSet<&str> = known.iter().map(|one| one.subject.as_str()).collect();
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        let chars: Vec<char> = sentence.text.chars().collect();
        let numbers = scan::placed(&chars);
        if numbers.is_empty() || says(&sentence.text, &["if", "would", "could", "should"]) {
            continue;
        }
        for (start, found) in &numbers {
            let number = &found.printed;
            if number.unit.is_none() || number.value == 0.0 {
                continue;
            }
            let before: String = chars[..*start].iter().collect();
            let behind: String = chars[found.end..].iter().collect();
            if is_relative(&before, &behind) {
                continue;
            }
            let Some(subject) = subject(&before, &behind, &subjects) else { continue };
            let of: Vec<&Known<'_>> = known
                .iter()
                .filter(|one| one.subject == subject && is_meant(one, sentence))
                .collect();
            judge(document, sentence, number, &of, book);
        }
    }
}

/// The cells of a table by what they are of: its rows, or in a table of metrics its columns.
fn cells<'a>(tied: &Tied<'_, 'a>) -> Vec<Known<'a>> {
    let table = tied.table();
    let of_metrics = says(&table.columns[0], &METRICS) || table.columns[0].is_empty();
    let mut all = Vec::new();
    if tied.grid.transposed && !of_metrics {
        return all;
    }
    for (row, record) in table.rows.iter().enumerate() {
        for column in values(tied.grid) {
            let Some(number) = record.cells[column].number.as_ref() else { continue };
            let name = tied.name(row);
            let column_name = header::name(&table.columns[column], table.units[column].as_deref());
            let (subject, own) = if of_metrics {
                let own = role::statistic(name).unwrap_or_else(|| meaning(name));
                (column_name.clone(), own)
            } else {
                (name.to_owned(), tied.grid.columns()[column].clone())
            };
            let subject = subject.to_lowercase();
            let letters = subject.chars().filter(|c| c.is_alphabetic()).count();
            if letters < 3 || subject.split_whitespace().count() > 4 || is_change(name) {
                continue;
            }
            let words = tokens(&format!("{name} {column_name}"));
            let metric = stems(&own.metric);
            let line = record.line;
            all.push(Known { table, subject, metric, role: own.role, words, number, line });
        }
    }
    all
}

/// Whether the words around a number make it a difference, a bound or an end of a range.
fn is_relative(before: &str, behind: &str) -> bool {
    let last: Vec<&str> = before.split_whitespace().rev().take(2).collect();
    let next: Vec<&str> = behind.split_whitespace().take(3).collect();
    let signed = before.ends_with(['+', '-', '−', '–', '<', '>', '≤', '≥', '±', '/', '→']);
    let ranged = behind.starts_with(['-', '–', '/', '±']);
    let told = |words: &[&str]| {
        words.iter().any(|word| {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            COMPARING.contains(&bare.as_str()) || RELATIVE.contains(&bare.as_str())
        })
    };
    signed || ranged || told(&last) || told(&next)
}

/// The name that stands right before or right behind a number, the longest of several.
fn subject(before: &str, behind: &str, subjects: &BTreeSet<&str>) -> Option<String> {
    let before = before.to_lowercase();
    let mut left = before.trim_end();
    for word in [" at", " is", " was", " has", " had", " of", " averaged", " takes", " took"] {
        left = left.strip_suffix(word).unwrap_or(left);
    }
    let left = left.trim_end_matches([':', '=', '(', ' ', ',']).trim_end();
    let behind = behind.to_lowercase();
    let mut right = behind.trim_start();
    for word in ["(", "for ", "with ", "in ", "on ", "by ", "using "] {
        right = right.strip_prefix(word).unwrap_or(right);
    }
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
    // A full stop ends a name, unless a version follows.
    let goes_on = |rest: &str| {
        part(rest.chars().next())
            || rest.strip_prefix('.').is_some_and(|rest| part(rest.chars().next()))
    };
    let ends = |name: &&&str| {
        left.strip_suffix(**name).is_some_and(|rest| !part(rest.chars().next_back()))
    };
    let starts = |name: &&&str| right.strip_prefix(**name).is_some_and(|rest| !goes_on(rest));
    let longest = |of: &dyn Fn(&&&str) -> bool| {
        subjects
            .iter()
            .filter(|name| of(name))
            .max_by_key(|name| name.len())
            .map(|n| (*n).to_owned())
    };
    match (longest(&ends), longest(&starts)) {
        (Some(one), None) | (None, Some(one)) => Some(one),
        _ => None,
    }
}

/// Whether a sentence says a cell's metric, statistic and state, and no other one.
fn is_meant(known: &Known<'_>, sentence: &Sentence) -> bool {
    let spoken = stems(&sentence.text);
    let words = tokens(&sentence.text);
    let mut around = known.words.clone();
    around.extend(tokens(&known.table.above()));
    let states = STATES.iter().all(|state| {
        let said = words.contains(*state);
        if said { around.contains(*state) } else { !known.words.contains(*state) }
    });
    let statistics =
        STATISTICS.iter().all(|word| words.contains(*word) == known.words.contains(*word));
    let plain = matches!(known.role, Role::Value | Role::Mean);
    let rate = known.number.unit.as_deref().is_some_and(is_rate);
    let throughput = rate && spoken.contains("throughput");
    let metric = known.metric.is_subset(&spoken) && !known.metric.is_empty() || throughput;
    let statistic = plain || STATISTICS.iter().any(|word| words.contains(*word));
    states && statistics && metric && statistic
}

fn judge(
    document: &Document,
    sentence: &Sentence,
    stated: &Printed,
    of: &[&Known<'_>],
    book: &mut Book,
) {
    let all: Vec<(&Known<'_>, Printed)> =
        of.iter().filter_map(|one| Some((*one, aligned(one.number, stated)?))).collect();
    if all.is_empty() {
        return;
    }
    if all.iter().any(|(_, number)| agrees(&sentence.text, stated, number)) {
        book.stated(sentence.line, stated.value, None);
        return;
    }
    let near = |(one, number): &&(&Known<'_>, Printed)| {
        let ratio = number.value / stated.value;
        one.table.headings == sentence.headings || (1.0 / NEAR..NEAR).contains(&ratio)
    };
    // Several with different values leave open which is meant.
    let mut tables: Vec<usize> = all.iter().map(|(one, _)| one.table.line).collect();
    tables.dedup();
    let Some((one, number)) = all.iter().find(near).filter(|_| tables.len() == 1) else { return };
    let place = Place {
        document: document.name.clone(),
        line: Some(sentence.line),
        section: sentence.headings.join(" > "),
        ..Place::default()
    };
    let against = Place { line: Some(one.line), ..place.clone() };
    let text = format!(
        "{} is stated beside `{}`; line {} has {}",
        shown(stated),
        one.subject,
        one.line,
        shown(number)
    );
    let how = "the number of that name, metric and statistic in every table that has one";
    let found = Found::remark(Check::StatedTwice, Severity::Inconsistent, place, text, how)
        .against(against)
        .values(stated.value, number.value);
    book.stated(sentence.line, stated.value, Some(found));
}
