//! `q4_0 provides 17 % higher throughput than q5_K_M`: comparisons of two rows in a sentence.

mod columns;

use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::column::values;
use super::found::Found;
use super::role::Role;
use super::sentence::shown;
use super::tie::Tied;
use crate::checks::Span;
use crate::checks::ratios::Reading;
use crate::printed::unit;
use crate::{Check, Document, Place, Printed, Sentence, SentenceKind, Severity};

/// The amount, the word that says which way, what is compared, and the other one.
static COMPARISON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) (^|.*?[^\d.,~<>≥≤≈-]) (\d{1,5}(?:\.\d{1,3})?)\s?(%|x|×)\s
        (higher|lower|faster|slower|more\sexpensive|cheaper|less|more)\s?
        ((?:[A-Za-z-]{2,20}\s){0,3}) than\s (.{2,60}?) (?:\s?[,;.(:)]|$)",
    )
    .ok()
});

/// Words before an amount that only bound it.
const BOUNDS: [&str; 9] =
    ["up to", "at least", "over", "nearly", "almost", "to", "than", "only about", "-"];

/// Columns from which an average over them may be what is stated.
const FEWEST: usize = 3;

/// A comparison of two sides in a sentence.
struct Comparison<'t> {
    sentence: &'t Sentence,
    /// What stands before the amount, and behind "than".
    before: &'t str,
    other: &'t str,
    /// The words that say which way, and what is compared.
    words: &'t str,
    stated: Printed,
}

/// Checks every comparison whose two sides are rows, or columns, of one table.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        let Some(groups) = COMPARISON.as_ref().and_then(|regex| regex.captures(&sentence.text))
        else {
            continue;
        };
        let before = groups[1].trim_end().to_lowercase();
        if BOUNDS.iter().any(|word| before.ends_with(word)) {
            continue;
        }
        let Some(mut stated) = Printed::parse(&format!("{}{}", &groups[2], &groups[3])) else {
            continue;
        };
        stated.approximate |= ["about", "roughly", "around", "approximately"]
            .iter()
            .any(|word| before.ends_with(word));
        let words = format!("{} {}", &groups[4], &groups[5]).to_lowercase();
        let (before, other) = (&groups[1], &groups[6]);
        let comparison = Comparison { sentence, before, other, words: &words, stated };
        if !judge(document, &comparison, tables, book) {
            columns::judge(document, &comparison, tables, book);
        }
    }
}

/// The kind of quantity that the words of a comparison are about.
fn is_about(words: &str, header: &str, unit: Option<&str>) -> bool {
    let header = header.to_lowercase();
    let rate = unit.is_some_and(|unit| unit.ends_with("/s") || unit.ends_with("/sec"))
        || ["throughput", "tok/s", "ops", "tokens/s"].iter().any(|word| header.contains(word));
    let time = unit.is_some_and(|unit| unit::factor(unit, "s").is_some());
    if words.contains("expensive") || words.contains("cheaper") || words.contains("cost") {
        return header.contains("cost") || header.contains('$');
    }
    let named = words.split_whitespace().skip(1).filter(|word| word.len() > 3);
    let metric: Vec<&str> = named.filter(|word| *word != "average").collect();
    if words.contains("faster") || words.contains("slower") {
        return rate || time;
    }
    match &metric[..] {
        [] => false,
        all if all.contains(&"throughput") => rate,
        all if all.contains(&"latency") => time,
        all => all.iter().all(|word| header.contains(word)),
    }
}

/// Judges a comparison of two rows; whether some table has both.
fn judge(
    document: &Document,
    comparison: &Comparison<'_>,
    tables: &[Tied<'_, '_>],
    book: &mut Book,
) -> bool {
    let Comparison { sentence, before, other, words, stated } = comparison;
    let (mut tried, mut example) = (0, None);
    let mut conditions: Vec<Span> = Vec::new();
    for tied in tables {
        let Some(base) = tied.row(other) else { continue };
        let named = tied.rows_in(before);
        let heading = || {
            sentence.headings.last().and_then(|heading| {
                let bare =
                    heading.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
                tied.row(bare)
            })
        };
        let subject = match named[..] {
            [one] => Some(one),
            [] => heading(),
            _ => None,
        };
        let Some(subject) = subject.filter(|row| *row != base) else { continue };
        for column in values(tied.grid) {
            let table = tied.table();
            let number = |row: usize| table.rows[row].cells[column].number.as_ref();
            let (Some(new), Some(old)) = (number(subject), number(base)) else { continue };
            if !is_about(words, &table.columns[column], new.unit.as_deref()) || new.unit != old.unit
            {
                continue;
            }
            tried += 1;
            if fits(stated, new, old) {
                book.stated(sentence.line, stated.value, None);
                return true;
            }
            // Columns without a statistic are conditions, over which an average may be meant.
            if tied.grid.columns()[column].role == Role::Value {
                conditions.extend(amount(stated, new, old));
            }
            example.get_or_insert((tied, column, subject, base));
        }
    }
    let Some((tied, column, subject, base)) = example else { return false };
    let around = conditions.iter().copied().reduce(Span::hull);
    if conditions.len() >= FEWEST && around.is_some_and(|span| Span::of(stated).meets(span)) {
        return true;
    }
    let table = tied.table();
    let cell = |row: usize| table.rows[row].cells[column].number.clone();
    let (Some(new), Some(old)) = (cell(subject), cell(base)) else { return false };
    let sentence_text = format!(
        "{} is stated of {} against {}; `{}` is {} against {} (line {}), and no column of {tried} \
         gives it",
        shown(stated),
        tied.name(subject),
        tied.name(base),
        table.columns[column],
        shown(&new),
        shown(&old),
        table.rows[subject].line
    );
    let place = Place {
        document: document.name.clone(),
        line: Some(sentence.line),
        section: sentence.headings.join(" > "),
        ..Place::default()
    };
    let against = Place { line: Some(table.rows[subject].line), ..place.clone() };
    let how = "the change or ratio of the two rows, either of them the base, in every such column";
    let found =
        Found::remark(Check::ComparedWith, Severity::Inconsistent, place, sentence_text, how)
            .values(stated.value, new.value / old.value)
            .against(against);
    book.stated(sentence.line, stated.value, Some(found));
    true
}

/// How far two values differ: in percent, or the larger over the smaller.
fn amount(stated: &Printed, new: &Printed, old: &Printed) -> Option<Span> {
    let (new, old) = (Span::of(new), Span::of(old));
    let (large, small) = if new.middle() >= old.middle() { (new, old) } else { (old, new) };
    let reading =
        if stated.unit.as_deref() == Some("%") { Reading::PercentChange } else { Reading::Ratio };
    reading.of(large, small)
}

/// Whether an amount is a change or a ratio of two values, on either base.
fn fits(stated: &Printed, new: &Printed, old: &Printed) -> bool {
    let (new, old) = (Span::of(new), Span::of(old));
    let readings: &[Reading] = if stated.unit.as_deref() == Some("%") {
        &[
            Reading::PercentChange,
            Reading::PercentOfOther,
            Reading::PercentReversed,
            Reading::PercentReversedOfOther,
            Reading::RatioInPercent,
            Reading::RatioReversedInPercent,
            Reading::Difference,
            Reading::DifferenceReversed,
        ]
    } else {
        &[Reading::Ratio, Reading::RatioReversed]
    };
    let own = Span::of(stated);
    readings.iter().any(|reading| {
        let value = reading.of(new, old);
        value.is_none_or(|value| {
            own.meets(value)
                || stated.unit.as_deref() == Some("x") && own.meets(value.minus(Span::exact(1.0)))
        })
    })
}
