//! `A delivers 18-25 % higher …`: a percentage of the wrong one of the two.
//!
//! 100 is 25 % more than 80, and 80 is 20 % less than 100. "Higher" and "less" say which of the two
//! is the whole. Only what the other one as the whole explains is reported.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::column::values;
use crate::automatic::stems::stems;
use crate::automatic::tie::{Tied, unit_of};
use crate::automatic::words::{says, tokens};
use crate::checks::Span;
use crate::checks::ratios::Reading;
use crate::{Check, Printed, Sentence};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(.*?) (\d{1,3}(?:\.\d{1,2})?) (?:\s?[-–]\s?(\d{1,3}(?:\.\d{1,2})?))? \s?% \s+
        (higher|more|larger|greater|lower|less|fewer|smaller) \s+ ([a-z][a-z\ -]{1,40})",
    )
    .ok()
});

/// Words before a percentage that only bound it.
const BOUNDS: [&str; 9] =
    ["up to", "at least", "over", "nearly", "almost", "than", "only about", "~", "about"];

/// Rows beyond which some pair explains any percentage.
const MOST_ROWS: usize = 6;

/// A stated percentage, or the ends of a range of them.
struct Claim {
    low: Printed,
    high: Option<Printed>,
    more: bool,
    metric: BTreeSet<String>,
}

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let before = groups.get(1).map_or("", |group| group.as_str());
    let behind = &sentence.text[groups.get(0).map_or(0, |all| all.end())..];
    let bounded = BOUNDS.iter().any(|word| before.trim_end().to_lowercase().ends_with(word));
    if bounded || says(&groups[5], &["than"]) || says(behind, &["than"]) {
        return;
    }
    let percent = |text: &str| Printed::parse(&format!("{text}%"));
    let Some(low) = percent(&groups[2]) else { return };
    let high = groups.get(3).and_then(|group| percent(group.as_str()));
    let word = groups[4].to_lowercase();
    let more = ["higher", "more", "larger", "greater"].contains(&word.as_str());
    let claim = Claim { low, high, more, metric: stems(&groups[5]) };
    let tables = page.beside(sentence);
    let nearest = tables.into_iter().find(|tied| !sides(tied, before).is_empty());
    if let Some(tied) = nearest {
        judge(page, sentence, tied, (&claim, &sides(tied, before)), book);
    }
}

/// Pairs of columns that are named alike but for their subjects, the one that is spoken of first.
fn sides(tied: &Tied<'_, '_>, before: &str) -> Vec<(usize, usize)> {
    let spoken = tokens(before);
    let table = tied.table();
    let mut found = Vec::new();
    let columns = values(tied.grid);
    for a in &columns {
        for b in columns.iter().filter(|b| *b != a) {
            let (own, other) = (tokens(&table.columns[*a]), tokens(&table.columns[*b]));
            let said = |words: &BTreeSet<String>, without: &BTreeSet<String>| {
                words
                    .difference(without)
                    .any(|word| word.chars().any(char::is_alphabetic) && spoken.contains(word))
            };
            if said(&own, &other) && !said(&other, &own) {
                found.push((*a, *b));
            }
        }
    }
    found
}

/// The percentages of the rows that the metric names: of the base that the word says, and of the
/// other.
fn percentages(tied: &Tied<'_, '_>, claim: &Claim, a: usize, b: usize) -> Vec<(Span, Span, usize)> {
    let table = tied.table();
    let header = stems(&table.columns[a]);
    let factor = unit_of(table, a).as_deref() == Some("x") && claim.metric.contains("speedup");
    let all = factor || header.intersection(&claim.metric).next().is_some();
    let named = |row: &&crate::TableRow| {
        let label = row.cells.first().map(|cell| stems(&cell.text)).unwrap_or_default();
        all || label.intersection(&claim.metric).next().is_some()
    };
    let of_row = |row: &crate::TableRow| {
        let (new, old) = (row.cells[a].number.as_ref()?, row.cells[b].number.as_ref()?);
        // Of percentages, "%" is often points.
        if new.unit != old.unit || new.unit.as_deref() == Some("%") {
            return None;
        }
        let (new, old) = (Span::of(new), Span::of(old));
        let (own, other) = if claim.more {
            (Reading::PercentChange, Reading::PercentOfOther)
        } else {
            (Reading::PercentReversed, Reading::PercentReversedOfOther)
        };
        Some((own.of(new, old)?, other.of(new, old)?, row.line))
    };
    table.rows.iter().filter(named).filter_map(of_row).collect()
}

fn judge(
    page: &Page<'_, '_, '_>,
    sentence: &Sentence,
    tied: &Tied<'_, '_>,
    (claim, sides): (&Claim, &[(usize, usize)]),
    book: &mut Book,
) {
    let mut swapped = None;
    for (a, b) in sides {
        let rows = percentages(tied, claim, *a, *b);
        if rows.is_empty() || rows.len() > MOST_ROWS {
            continue;
        }
        let own: Vec<Span> = rows.iter().map(|row| row.0).collect();
        let other: Vec<Span> = rows.iter().map(|row| row.1).collect();
        if fits(claim, &own) {
            book.stated(sentence.line, claim.low.value, None);
            return;
        }
        if fits(claim, &other) {
            swapped.get_or_insert((own, rows[0].2));
        }
    }
    let Some((own, line)) = swapped else { return };
    let ends = own.iter().copied().reduce(Span::hull).unwrap_or(own[0]);
    let high = claim.high.as_ref().map_or(String::new(), |high| format!("-{}", high.value));
    let text = format!(
        "{}{high} % is of the wrong one of the two; from line {line} on it is {:.1} to {:.1} %",
        claim.low.value, ends.low, ends.high
    );
    let how = "100 · (A - B) / B for A that is higher or lower; the stated is 100 · (A - B) / A";
    let found = page
        .found(Check::PercentOfOther, sentence, line, text, how)
        .values(claim.low.value, ends.middle());
    book.stated(sentence.line, claim.low.value, Some(found));
}

/// Whether one row has the stated percentage, or all rows together the stated range.
fn fits(claim: &Claim, rows: &[Span]) -> bool {
    let Some(high) = &claim.high else {
        return rows.iter().any(|row| Span::of(&claim.low).meets(*row));
    };
    let order = |a: &&Span, b: &&Span| a.middle().total_cmp(&b.middle());
    let ends = rows.iter().min_by(order).zip(rows.iter().max_by(order));
    ends.is_some_and(|(least, most)| {
        Span::of(&claim.low).meets(*least) && Span::of(high).meets(*most)
    })
}
