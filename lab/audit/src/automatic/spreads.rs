//! `99.16 ± 0.25`, called a standard deviation in one table and a confidence interval in another.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::bounds_in_cells::is_interval;
use super::found::Found;
use super::tie::Tied;
use crate::checks::bounds;
use crate::{Check, Place, Printed, Severity, Table};

static DEVIATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) σ | \bSDs?\b | ±\s*std\b
        | (?i: \b(?: std\.?\s?dev\w* | stdev\w* | standard\sdeviations? )\b )",
    )
    .ok()
});

static ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:standard errors?|std\.? ?err\w*|sem)\b").ok());

/// A mean and what stands behind its `±`.
struct Spread<'a> {
    kind: &'static str,
    mean: &'a Printed,
    spread: &'a Printed,
    place: Place,
}

/// Checks every two cells `mean ± spread` of the same numbers in two tables.
pub(crate) fn check(tables: &[Tied<'_, '_>], book: &mut Book) {
    let all: Vec<Spread<'_>> = tables.iter().flat_map(spreads).collect();
    for (index, later) in all.iter().enumerate() {
        let mut earlier =
            all[..index].iter().filter(|other| other.place.section != later.place.section);
        let Some(earlier) = earlier.find(|earlier| is_same(later, earlier)) else { continue };
        let found = (later.kind != earlier.kind).then(|| {
            let text = format!(
                "{} ± {} is a {} here and a {} in line {}",
                later.mean.value,
                later.spread.value,
                later.kind,
                earlier.kind,
                earlier.place.line.unwrap_or_default()
            );
            let how = "the words of both columns and of what stands above the tables";
            Found::remark(
                Check::SpreadNamedTwice,
                Severity::Inconsistent,
                later.place.clone(),
                text,
                how,
            )
            .against(earlier.place.clone())
        });
        book.claim(found);
    }
}

fn spreads<'a>(tied: &Tied<'_, 'a>) -> Vec<Spread<'a>> {
    let table = tied.table();
    let mut all = Vec::new();
    for (row, record) in table.rows.iter().enumerate() {
        for (column, cell) in record.cells.iter().enumerate().skip(1) {
            let (Some(mean), Some(spread)) = (&cell.number, &cell.plus_minus) else { continue };
            let Some(kind) = kind(table, column) else { continue };
            let place = tied.grid.spot(row, column);
            all.push(Spread { kind, mean, spread, place });
        }
    }
    all
}

/// What a column calls its spreads, or else what stands nearest above its table; nothing where two
/// kinds are named.
fn kind(table: &Table, column: usize) -> Option<&'static str> {
    let heading = table.headings.last().map(String::as_str);
    let texts = [Some(table.columns[column].as_str()), Some(table.caption.as_str()), heading];
    texts.into_iter().flatten().find_map(|text| {
        let named = |regex: &LazyLock<Option<Regex>>| {
            regex.as_ref().is_some_and(|regex| regex.is_match(text))
        };
        match (named(&DEVIATION), is_interval(text), named(&ERROR)) {
            (true, false, false) => Some("standard deviation"),
            (false, true, false) => Some("confidence interval"),
            (_, false, true) => Some("standard error"),
            _ => None,
        }
    })
}

/// Whether two cells print the same two numbers, with digits enough not to do so by chance.
fn is_same(one: &Spread<'_>, other: &Spread<'_>) -> bool {
    let digits = |number: &Printed| number.value.abs() * 10f64.powi(number.decimals);
    let telling =
        |spread: &Spread<'_>| digits(spread.mean) >= 100.0 && digits(spread.spread) >= 10.0;
    let units = [&one.mean.unit, &other.mean.unit];
    let clash = matches!(units, [Some(one), Some(other)] if one != other);
    telling(one)
        && telling(other)
        && !clash
        && bounds::differ(one.mean, other.mean).is_none()
        && bounds::differ(one.spread, other.spread).is_none()
}
