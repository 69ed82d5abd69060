//! The same where the two sides are columns: `Metric | A | B`, or `A time | B time`.

use std::collections::BTreeSet;

use super::{Comparison, amount, fits, is_about};
use crate::automatic::book::Book;
use crate::automatic::column::{is_change, number};
use crate::automatic::found::Found;
use crate::automatic::sentence::shown;
use crate::automatic::tie::{Tied, aligned};
use crate::automatic::words::{says, tokens};
use crate::checks::Span;
use crate::{Check, Document, Place, Printed};

/// Rows from which an average over them may be what is stated.
const FEWEST: usize = 3;

/// Where the second side ends.
const ENDS: [&str; 16] = [
    " in ",
    " on ",
    " for ",
    " at ",
    " with ",
    " across ",
    " by ",
    " over ",
    " under ",
    " when ",
    " while ",
    " because ",
    " due ",
    " and ",
    " on average",
    " overall",
];

/// Two cells of a row that a comparison can be of.
struct Pair<'t> {
    label: String,
    line: usize,
    new: &'t Printed,
    old: Printed,
    own: bool,
}

/// Judges a comparison against every row that has both sides.
pub(super) fn judge(
    document: &Document,
    comparison: &Comparison<'_>,
    tables: &[Tied<'_, '_>],
    book: &mut Book,
) {
    let (sentence, stated) = (comparison.sentence, &comparison.stated);
    let pairs: Vec<Pair<'_>> = tables.iter().flat_map(|tied| pairs(tied, comparison)).collect();
    if pairs.iter().any(|pair| fits(stated, pair.new, &pair.old)) {
        book.stated(sentence.line, stated.value, None);
        return;
    }
    let amounts = |pair: &&Pair<'_>| amount(stated, pair.new, &pair.old);
    let around = pairs.iter().filter_map(|pair| amounts(&pair)).reduce(Span::hull);
    if pairs.len() >= FEWEST && around.is_some_and(|span| Span::of(stated).meets(span)) {
        return;
    }
    // A table of another section may be of another measurement.
    let Some(pair) = pairs.iter().find(|pair| pair.own) else { return };
    let text = format!(
        "{} is stated of the two sides; `{}` has {} against {} (line {}), and no row of {} gives \
         it",
        shown(stated),
        pair.label,
        shown(pair.new),
        shown(&pair.old),
        pair.line,
        pairs.len()
    );
    let place = Place {
        document: document.name.clone(),
        line: Some(sentence.line),
        section: sentence.headings.join(" > "),
        ..Place::default()
    };
    let against = Place { line: Some(pair.line), ..place.clone() };
    let how = "the change or ratio of the two columns, either of them the base, in every such row";
    let severity = crate::Severity::Inconsistent;
    let found = Found::remark(Check::ComparedWith, severity, place, text, how)
        .values(stated.value, pair.new.value / pair.old.value)
        .against(against);
    book.stated(sentence.line, stated.value, Some(found));
}

/// The rows of a table that have both sides and are about what the words say.
fn pairs<'t>(tied: &Tied<'_, 't>, comparison: &Comparison<'_>) -> Vec<Pair<'t>> {
    let table = tied.table();
    let padded = format!(" {} ", comparison.other);
    let end = ENDS.iter().filter_map(|word| padded.find(word)).min().unwrap_or(padded.len());
    let (who, whom) = (tokens(comparison.before), tokens(&padded[..end]));
    let own = table.headings == comparison.sentence.headings;
    let mut found = Vec::new();
    for (a, b) in sides(tied, &who, &whom) {
        for row in 0..table.rows.len() {
            let label = format!("{} {}", tied.name(row), table.columns[a]);
            let (Some(new), Some(old)) = (number(tied.grid, row, a), number(tied.grid, row, b))
            else {
                continue;
            };
            let Some(old) = aligned(old, new).filter(|old| old.value != 0.0) else { continue };
            if is_about(comparison.words, &label, new.unit.as_deref()) && new.unit.is_some() {
                found.push(Pair { label, line: table.rows[row].line, new, old, own });
            }
        }
    }
    found
}

/// The pairs of columns that are named alike but for the two sides.
fn sides(
    tied: &Tied<'_, '_>,
    who: &BTreeSet<String>,
    whom: &BTreeSet<String>,
) -> Vec<(usize, usize)> {
    let table = tied.table();
    let letters = |words: &BTreeSet<String>| {
        words.iter().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 2)
    };
    let plain = |column: &usize| {
        !is_change(&table.columns[*column])
            && !says(&table.columns[*column], &["winner", "difference", "notes"])
    };
    let header = |column: usize| {
        let unit = table.units[column].as_deref();
        tokens(&crate::document::header::name(&table.columns[column], unit))
    };
    let columns: Vec<usize> = (1..table.columns.len()).filter(plain).collect();
    let mut found = Vec::new();
    for b in columns.iter().filter(|b| letters(whom) && whom.is_subset(&header(**b))) {
        let rest: BTreeSet<String> = header(*b).difference(whom).cloned().collect();
        for a in columns.iter().filter(|a| *a != b && rest.is_subset(&header(**a))) {
            let own: BTreeSet<String> = header(*a).difference(&rest).cloned().collect();
            if letters(&own) && own.is_subset(who) && own != *whom {
                found.push((*a, *b));
            }
        }
    }
    found
}
