//! `p = 0.12 (significant)`: a p-value and what is said of it.

use std::sync::LazyLock;

use regex::Regex;

use super::stated_p;
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::grid::Grid;
use crate::automatic::lexicon::{Words, class};
use crate::automatic::role::Role;
use crate::checks::Span;
use crate::checks::tests_of_hypotheses::StatedP;
use crate::{Bound, Check, Document, Place, Printed, SentenceKind, Severity};

static P: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\bp(?:-value)?s?(?:\s?\([a-z -]{1,30}\))?\s*([=<>≤≥:])\s*(\d?\.\d{1,12})").ok()
});

/// Words that set another level than 5 %.
static LEVELS: Words = Words::new(|| class("significance_words.levels"));

/// Checks every sentence with one p.
pub(super) fn check(document: &Document, book: &mut Book) {
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        let all: Vec<_> = P.iter().flat_map(|regex| regex.captures_iter(&sentence.text)).collect();
        let [groups] = &all[..] else { continue };
        let Some((p, printed)) = stated_p(&groups[1].replace(':', "="), &groups[2]) else {
            continue;
        };
        let Some(said) = said(&sentence.text) else { continue };
        let place = Place {
            document: document.name.clone(),
            line: Some(sentence.line),
            section: sentence.headings.join(" > "),
            ..Place::default()
        };
        book.stated(sentence.line, printed.value, found(place, (&p, &printed), said));
    }
}

/// A column of p beside one that says which are significant.
pub(super) fn of_table(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let p = grid.columns().iter().position(|meaning| meaning.role == Role::P);
    let judged = table.columns.iter().position(|header| is_verdict(header));
    let (Some(p), Some(judged)) = (p, judged) else { return };
    if other_level(&table.columns[judged]) || other_level(&table.above()) || p == judged {
        return;
    }
    for row in &table.rows {
        let (cell, verdict) = (&row.cells[p], &row.cells[judged]);
        let Some(printed) = cell.numbers.first() else { continue };
        let lower = verdict.written.to_lowercase();
        let yes = ["yes", "true", "✓", "✅", "✔"].iter().any(|mark| lower.starts_with(mark));
        let no = ["no", "false", "✗", "❌", "✘"].iter().any(|mark| lower.starts_with(mark));
        let Some(said) = said(&lower).or((yes != no).then_some(yes)) else { continue };
        let stated = match cell.bound {
            Some(Bound::Below) => StatedP::Below(printed.value),
            Some(Bound::Above) => StatedP::Above(printed.value),
            None => StatedP::Equals(printed.clone()),
        };
        let place = Place {
            document: grid.document.to_owned(),
            line: Some(row.line).filter(|line| *line > 0),
            section: table.section(),
            row: row.cells.first().map(|cell| cell.text.clone()),
            column: Some(table.columns[judged].clone()),
        };
        book.cell(row.line, judged, found(place, (&stated, printed), said));
    }
}

fn is_verdict(header: &str) -> bool {
    let lower = header.to_lowercase();
    lower.starts_with("significan") || lower == "sig" || lower == "sig." || lower == "sig?"
}

fn other_level(text: &str) -> bool {
    let lower = text.to_lowercase();
    LEVELS.iter().any(|word| lower.contains(word))
}

/// Whether a text calls a difference significant; `None` where it says neither, both, or names a
/// level of its own.
fn said(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let hedged = ["marginal", "borderline", "trend", "approach", "practical", "nearly", "if "];
    if other_level(&lower) || hedged.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let denials = [
        "not significant",
        "not statistically significant",
        "insignificant",
        "non-significant",
        "nonsignificant",
        "no significant",
        "no statistically significant",
        "isn't significant",
        "not a significant",
    ];
    let denied = denials.iter().any(|words| lower.contains(words));
    let rest = denials.iter().fold(lower, |text, words| text.replace(words, ""));
    let claimed = rest
        .split(|c: char| !c.is_alphabetic())
        .any(|word| matches!(word, "significant" | "significantly"));
    (denied != claimed).then_some(claimed)
}

/// A p that is above 5 % and called significant, or surely below 1 % and called none.
fn found(place: Place, (p, printed): (&StatedP, &Printed), said: bool) -> Option<Found> {
    let wrong = match (p, said) {
        (StatedP::Equals(printed), true) => Span::of(printed).low > 0.05,
        (StatedP::Above(value), true) => *value >= 0.05,
        (StatedP::Equals(printed), false) => Span::of(printed).high < 0.01,
        (StatedP::Below(value), false) => *value <= 0.01,
        _ => false,
    };
    wrong.then(|| {
        let word = if said { "significant" } else { "not significant" };
        let text = format!("a p of {} is called {word}", printed.value);
        let how = "5 % where no level is named; below 1 % for what is called none";
        Found::remark(Check::PAndWords, Severity::Inconsistent, place, text, how)
            .values(printed.value, 0.05)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_p() {
        assert_eq!(said("p = 0.12, which is significant"), Some(true));
        assert_eq!(said("p = 0.12, not statistically significant"), Some(false));
        assert_eq!(said("p = 0.06, marginally significant"), None);
        assert_eq!(said("p = 0.06 (significant at alpha = 0.1)"), None);
        assert_eq!(said("p = 0.06"), None);
    }
}
