//! `A larger buffer (8192 vs 4096) improves throughput … across all sizes`: one setting changed
//! while the others stay.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::column::{is_setting, values};
use crate::automatic::stems::stems;
use crate::automatic::tie::Tied;
use crate::checks::Span;
use crate::{Check, Sentence};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \((\d+(?:\.\d+)?)\svs\.?\s(\d+(?:\.\d+)?)\) \s+
        (improve|increase|raise|boost|reduce|lower|decrease)[sd]? \s+ (.{3,40}?) \s+
        (?:by\s.{1,24}?\s)? (?:across|for|in|at|on)\s+(?:all|every|each)\b",
    )
    .ok()
});

/// `SIZE=1024 improves throughput … across all`: against the only other value.
static ONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b([a-z_]{2,20})\s?=\s?(\d+(?:\.\d+)?) \s+
        (improve|increase|raise|boost|reduce|lower|decrease)[sd]? \s+ (.{3,40}?) \s+
        (?:by\s.{1,24}?\s)? (?:across|for|in|at|on)\s+(?:all|every|each)\b",
    )
    .ok()
});

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    if let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) {
        let values = (groups[1].parse::<f64>(), groups[2].parse::<f64>());
        let (Ok(new), Ok(old)) = values else { return };
        let claim = Claim { new, verb: &groups[3], metric: &groups[4] };
        judge(page, sentence, &claim, &|_| Some(old), book);
    } else if let Some(groups) = ONE.as_ref().and_then(|regex| regex.captures(&sentence.text)) {
        let Ok(new) = groups[2].parse::<f64>() else { return };
        let claim = Claim { new, verb: &groups[3], metric: &groups[4] };
        judge(page, sentence, &claim, &|tied| other(tied, &groups[1], new), book);
    }
}

/// What a value of a setting is said to do.
struct Claim<'t> {
    new: f64,
    verb: &'t str,
    metric: &'t str,
}

/// The only other value of the column of a setting.
fn other(tied: &Tied<'_, '_>, name: &str, new: f64) -> Option<f64> {
    let table = tied.table();
    let wanted = stems(name);
    let column = table.columns.iter().position(|header| wanted.is_subset(&stems(header)))?;
    let numbers = table.rows.iter().filter_map(|row| row.cells[column].number.as_ref());
    let mut others: Vec<f64> = numbers.map(|n| n.value).filter(|value| *value != new).collect();
    others.dedup();
    others.first().copied().filter(|first| others.iter().all(|other| other == first))
}

fn judge(
    page: &Page<'_, '_, '_>,
    sentence: &Sentence,
    claim: &Claim<'_>,
    old: &dyn Fn(&Tied<'_, '_>) -> Option<f64>,
    book: &mut Book,
) {
    let new = claim.new;
    let falls = ["reduce", "lower", "decrease"].contains(&&*claim.verb.to_lowercase());
    for tied in page.beside(sentence) {
        let Some(old) = old(tied) else { continue };
        let metric = stems(claim.metric);
        let columns: Vec<usize> = values(tied.grid)
            .into_iter()
            .filter(|column| metric.is_subset(&stems(&tied.table().columns[*column])))
            .collect();
        let pairs = pairs(tied, new, old);
        if pairs.len() < 2 || columns.is_empty() {
            continue;
        }
        // Better may be less, so that "improves" says no direction where the metric's name does
        // not.
        let against: Vec<Option<(usize, usize)>> =
            columns.iter().map(|column| reversed(tied, *column, &pairs, falls)).collect();
        let found = against.iter().all(Option::is_some).then(|| {
            let (new, old) = against[0].unwrap_or(pairs[0]);
            let (table, column) = (tied.table(), columns[0]);
            let text = format!(
                "said of all rows; `{}` is {} in line {} and {} in line {}",
                table.columns[column],
                table.rows[new].cells[column].text,
                table.rows[new].line,
                table.rows[old].cells[column].text,
                table.rows[old].line
            );
            let how = "pairs of rows that differ in the named setting alone";
            page.found(Check::ClaimOfAllRows, sentence, table.rows[new].line, text, how)
        });
        book.stated(sentence.line, new, found);
        return;
    }
}

/// Rows with the new and the old value of one column that are alike in all other settings.
fn pairs(tied: &Tied<'_, '_>, new: f64, old: f64) -> Vec<(usize, usize)> {
    let table = tied.table();
    let number = |row: usize, column: usize| {
        table.rows[row].cells[column].number.as_ref().map(|number| number.value)
    };
    let rows = 0..table.rows.len();
    let has = |column: usize, value: f64| {
        rows.clone().filter(|row| number(*row, column) == Some(value)).count()
    };
    let settings: Vec<usize> = (0..table.columns.len())
        .filter(|column| *column == 0 || is_setting(&table.columns[*column]))
        .collect();
    let both = |column: &usize| has(*column, new) >= 1 && has(*column, old) >= 1;
    let Some(column) = (0..table.columns.len()).find(both) else { return Vec::new() };
    let mut groups: BTreeMap<Vec<&str>, [Option<usize>; 2]> = BTreeMap::new();
    for row in rows.clone() {
        let side = match number(row, column) {
            Some(value) if value == new => 0,
            Some(value) if value == old => 1,
            _ => continue,
        };
        let others = settings.iter().filter(|other| **other != column);
        let key = others.map(|other| table.rows[row].cells[*other].text.as_str()).collect();
        groups.entry(key).or_default()[side] = Some(row);
    }
    groups.into_values().filter_map(|[new, old]| Some((new?, old?))).collect()
}

/// The first pair that surely moves the other way.
fn reversed(
    tied: &Tied<'_, '_>,
    column: usize,
    pairs: &[(usize, usize)],
    falls: bool,
) -> Option<(usize, usize)> {
    let span = |row: usize| tied.table().rows[row].cells[column].number.as_ref().map(Span::of);
    pairs.iter().copied().find(|(new, old)| match (span(*new), span(*old)) {
        (Some(new), Some(old)) if falls => old.below(new),
        (Some(new), Some(old)) => new.below(old),
        _ => false,
    })
}
