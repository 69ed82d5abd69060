//! `Latency ranges from 2.1 to 4.8 ms`, `all within 0.6 tok/s of each other`: how far the rows of
//! a table lie apart.

use std::sync::LazyLock;

use regex::Regex;

use super::{Page, spoken};
use crate::automatic::book::Book;
use crate::automatic::column::number;
use crate::automatic::sentence::shown;
use crate::automatic::tie::Tied;
use crate::automatic::words::says;
use crate::checks::{Span, bounds};
use crate::{Check, Printed, Sentence};

static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b(?:rang(?:es?|ed|ing)|var(?:y|ies|ied|ying)|spann?(?:s|ed|ing)?) \b [^.;\d]{0,30}?
        (\d[\d,]*(?:\.\d+)?) \s? (%|x\b|×|[a-zµ]{1,6}(?:/[a-z]{1,6})?)?
        \s? (?:to|and|-|–|—) \s?
        (\d[\d,]*(?:\.\d+)?) \s? (%|x\b|×|[a-zµ]{1,6}(?:/[a-z]{1,6})?)",
    )
    .ok()
});

static WITHIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b(?:within|(?:differ|vary|varies|varied|differed)\sby\s
        (?:only|less\sthan|at\smost))
        \s (?:only\s|just\s)? (\d[\d,]*(?:\.\d+)?\s?(?:%|pp|x\b|×|[a-zµ]{1,6}(?:/[a-z]{1,6})?))
        (\s of \s [a-z]+ (?:\s[a-z]+)?)?",
    )
    .ok()
});

/// Words of a sentence about other rows, or other data.
const OTHER: [&str; 16] = [
    "except",
    "excluding",
    "without",
    "typical",
    "typically",
    "usually",
    "mostly",
    "expected",
    "would",
    "could",
    "should",
    "if",
    "outlier",
    "outliers",
    "than",
    "interquartile",
];

/// A row that is beyond an end by less is noise to who writes it.
const LEAST: f64 = 0.01;

/// Lines between a table and what is said of how far its rows lie apart.
const REACH: usize = 12;

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    if says(&sentence.text.replace("less than", ""), &OTHER) {
        return;
    }
    range(page, sentence, book);
    within(page, sentence, book);
}

/// Both ends of a column; tied to it by one end that it has.
fn range(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = RANGE.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let unit = |index: usize| groups.get(index).map(|group| group.as_str());
    let Some(high) = Printed::parse(&format!("{}{}", &groups[3], &groups[4])) else { return };
    let Some(low) = Printed::parse(&format!("{}{}", &groups[1], unit(2).unwrap_or(&groups[4])))
    else {
        return;
    };
    if low.unit != high.unit || low.value >= high.value {
        return;
    }
    for tied in page.beside(sentence) {
        let rows = spoken::rows(tied, &sentence.text);
        let Some(rows) = spoken::with_settings(tied, &sentence.text, rows) else { continue };
        let has = |column: &usize, end: &Printed| {
            let numbers = rows.iter().filter_map(|row| number(tied.grid, *row, *column));
            numbers.clone().any(|number| bounds::differ(end, number).is_none())
        };
        let tied_columns: Vec<usize> = spoken::columns(tied, &sentence.text, &high)
            .into_iter()
            .filter(|column| has(column, &low) || has(column, &high))
            .collect();
        if rows.len() < 3 || tied_columns.is_empty() {
            continue;
        }
        let outside = |column: &usize| {
            let beyond = |row: &&usize| {
                number(tied.grid, **row, *column).is_some_and(|n| is_outside(n, &low, &high))
            };
            rows.iter().find(beyond).map(|row| (*row, *column))
        };
        let all: Vec<(usize, usize)> = tied_columns.iter().filter_map(outside).collect();
        let found = (all.len() == tied_columns.len()).then(|| {
            let (row, column) = all[0];
            let table = tied.table();
            let text = format!(
                "{} to {} is stated; `{}` of {} is {} (line {})",
                shown(&low),
                shown(&high),
                table.columns[column],
                tied.name(row),
                table.rows[row].cells[column].text,
                table.rows[row].line
            );
            let how = "the ends of the range against every row of the column that has one of them";
            page.found(Check::RangeOfRows, sentence, table.rows[row].line, text, how)
                .values(low.value, high.value)
        });
        book.stated(sentence.line, high.value, found);
        return;
    }
}

fn is_outside(number: &Printed, low: &Printed, high: &Printed) -> bool {
    let own = Span::of(number);
    let far = |end: &Printed| (number.value - end.value).abs() > LEAST * end.value.abs();
    own.below(Span::of(low)) && far(low) || Span::of(high).below(own) && far(high)
}

/// The rows of the table right above lie no further apart than is said.
fn within(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = WITHIN.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let Some(stated) = Printed::parse(&groups[1]) else { return };
    let of = groups.get(2).map_or("", |group| group.as_str().trim());
    if !of.is_empty() && !of.ends_with("each other") && !of.ends_with("one another") {
        return;
    }
    let near = page.beside(sentence).into_iter().find(|tied| {
        let table = tied.table();
        let last = table.rows.last().map_or(table.line, |row| row.line);
        last < sentence.line && sentence.line <= last + REACH
    });
    let Some(tied) = near else { return };
    let Some(mut rows) = top(tied, &sentence.text) else { return };
    let meant = spoken::rows(tied, &sentence.text);
    rows.retain(|row| meant.contains(row));
    let relative = Printed { unit: None, ..stated.clone() };
    let mut columns = spoken::columns(tied, &sentence.text, &stated);
    let percent = stated.unit.as_deref() == Some("%");
    if percent && columns.is_empty() {
        columns = rates(tied);
    }
    let [column] = columns[..] else { return };
    let spans: Vec<Span> =
        rows.iter().filter_map(|row| number(tied.grid, *row, column)).map(Span::of).collect();
    let high = spans.iter().copied().reduce(|a, b| if a.middle() >= b.middle() { a } else { b });
    let low = spans.iter().copied().reduce(|a, b| if a.middle() <= b.middle() { a } else { b });
    let (Some(high), Some(low)) = (high, low) else { return };
    let own_unit = crate::automatic::tie::unit_of(tied.table(), column);
    let gap = if percent && own_unit.as_deref() != Some("%") {
        // Of the larger one it is least.
        low.over(high).map(|share| Span::exact(1.0).minus(share).times(100.0))
    } else {
        Some(high.minus(low))
    };
    let Some(gap) = gap.filter(|_| spans.len() >= 3) else { return };
    let found = Span::of(&relative).below(gap).then(|| {
        let table = tied.table();
        let text = format!(
            "{} is stated; the rows of `{}` from line {} on differ by {:.2}",
            shown(&stated),
            table.columns[column],
            table.line,
            gap.middle()
        );
        let how = "the largest less the smallest value of the column";
        page.found(Check::RangeOfRows, sentence, table.line, text, how)
            .values(stated.value, gap.middle())
    });
    book.stated(sentence.line, stated.value, found);
}

/// The first rows of a ranked table, where a text speaks of the top so many; else all.
fn top(tied: &Tied<'_, '_>, text: &str) -> Option<Vec<usize>> {
    let words = crate::automatic::words::list(text);
    let count = tied.table().rows.len();
    let Some(at) = words.iter().position(|word| word == "top") else {
        return Some((0..count).collect());
    };
    let most: usize = words.get(at + 1)?.parse().ok()?;
    (most <= count).then(|| (0..most).collect())
}

/// The only column of rates or times.
fn rates(tied: &Tied<'_, '_>) -> Vec<usize> {
    let columns = crate::automatic::column::values(tied.grid).into_iter();
    let measured = |column: &usize| {
        let unit = crate::automatic::tie::unit_of(tied.table(), *column);
        unit.is_some_and(|unit| {
            crate::printed::unit::factor(&unit, "s").is_some()
                || crate::automatic::stems::is_rate(&unit)
        })
    };
    columns.filter(measured).collect()
}
