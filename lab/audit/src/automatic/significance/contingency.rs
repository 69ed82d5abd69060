//! `Chi-square test: p < 0.01` beside two rows of counts.

use std::sync::LazyLock;

use regex::Regex;

use super::stated_p;
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::tie::Tied;
use crate::checks::contingency::{Counts, p_of_counts};
use crate::{Check, Document, Place, SentenceKind, Severity, Table};

static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:chi[\s-]?squared?|χ²|χ2|chi2|fisher)[^.;]{0,80}?\bp\s*([=<>≤≥])\s*(\d?\.\d{1,8})",
    )
    .ok()
});

static FRACTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(\d{1,6})\s?/\s?(\d{1,6})(?:$|\s|\()").ok());

/// More pairs of counts leave open which is meant.
const MOST: usize = 3;

/// Checks every such test against the pairs of counts of its section, or else of the document.
pub(super) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let pairs: Vec<(&Table, Counts, Counts)> =
        tables.iter().flat_map(|tied| pairs(tied.table())).collect();
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        let Some(groups) = TEST.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
            continue;
        };
        let Some((p, printed)) = stated_p(&groups[1], &groups[2]) else { continue };
        let own: Vec<_> =
            pairs.iter().filter(|(table, ..)| table.headings == sentence.headings).collect();
        let meant = if own.is_empty() { pairs.iter().collect() } else { own };
        let wrong: Vec<_> = meant
            .iter()
            .filter_map(|(table, a, b)| Some((table.line, p_of_counts(&p, *a, *b)?)))
            .collect();
        let Some((line, first)) = wrong.first().filter(|_| meant.len() <= MOST) else { continue };
        let found = (wrong.len() == meant.len()).then(|| {
            let place = document.at(sentence);
            let against = Place { line: Some(*line), ..place.clone() };
            let text = format!(
                "p is stated as {}; {} is {:.3} to {:.3}",
                printed.value, first.how, first.computed_low, first.computed_high
            );
            let check = Check::POfCounts;
            Found::mismatch(check, Severity::Inconsistent, place, &printed, first)
                .sentence(text)
                .against(against)
        });
        book.stated(sentence.line, printed.value, found);
    }
}

/// The two rows of counts of each column that has two.
fn pairs(table: &Table) -> Vec<(&Table, Counts, Counts)> {
    let count = |text: &str| {
        let groups = FRACTION.as_ref()?.captures(text)?;
        let (part, of) = (groups[1].parse().ok()?, groups[2].parse().ok()?);
        (part <= of && of > 0).then_some(Counts { part, of })
    };
    let of_column = |column: usize| {
        let counts: Vec<Counts> =
            table.rows.iter().filter_map(|row| count(&row.cells.get(column)?.text)).collect();
        match counts[..] {
            [a, b] => Some((table, a, b)),
            _ => None,
        }
    };
    (1..table.columns.len()).filter_map(of_column).collect()
}
