//! Test statistics and p-values that do not belong together.

use std::sync::LazyLock;

use regex::Regex;

use super::found::Found;
use super::grid::{Grid, Record};
use super::role::Role;
use crate::checks::Span;
use crate::checks::tests_of_hypotheses::{StatedP, p_of_t};
use crate::{Bound, Document, Place, Printed, SentenceKind, Severity};

/// `t(18) = 2.5, p = 0.001`, as papers print it.
static T_TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = [
        r"\bt\s*\(\s*(\d{1,6}(?:\.\d{1,4})?)\s*\)\s*=\s*([-−]?\d{1,6}(?:\.\d{1,6})?)",
        r"[,;\s]{1,4}p\s*([=<>])\s*(\d?\.\d{1,12}|[01])",
    ];
    Regex::new(&pattern.concat()).ok()
});

/// Columns of t and p, with or without degrees of freedom.
pub(crate) fn check(grid: &Grid<'_>) -> Vec<Found> {
    grid.records.iter().filter_map(|record| of_record(grid, record)).collect()
}

fn of_record(grid: &Grid<'_>, record: &Record<'_>) -> Option<Found> {
    let lone = |role: Role| {
        let mut stats = record.stats.iter().filter(|stat| stat.role == role);
        stats.next().filter(|_| stats.next().is_none())
    };
    let t = lone(Role::T)?;
    let df = match (lone(Role::Degrees), lone(Role::Count)) {
        (Some(df), _) => Span::of(&df.number),
        // Of one sample, or of two with as many values each.
        (None, Some(n)) => Span { low: n.number.value - 1.0, high: 2.0 * n.number.value },
        (None, None) => Span { low: 1.0, high: 1e9 },
    };
    let row = grid.table.rows.iter().find(|row| row.line == t.line)?;
    let column = grid.columns().iter().position(|meaning| meaning.role == Role::P)?;
    let cell = row.cells.get(column).filter(|_| !grid.transposed)?;
    let p = match (&cell.number, cell.bound) {
        (Some(number), _) => StatedP::Equals(number.clone()),
        (None, Some(Bound::Below)) => StatedP::Below(cell.numbers.first()?.value),
        (None, Some(Bound::Above)) => StatedP::Above(cell.numbers.first()?.value),
        (None, None) => return None,
    };
    let place = Place { column: Some(grid.table.columns[column].clone()), ..grid.place(record, t) };
    found(place, &p, &t.number, df)
}

/// Tests in sentences.
pub(crate) fn prose(document: &Document) -> Vec<Found> {
    let Some(pattern) = T_TEST.as_ref() else { return Vec::new() };
    let mut all = Vec::new();
    for sentence in document.prose.iter().filter(|s| s.kind == SentenceKind::Prose) {
        for captures in pattern.captures_iter(&sentence.text) {
            let place = Place {
                document: document.name.clone(),
                line: Some(sentence.line),
                section: sentence.headings.join(" > "),
                row: Some(captures[0].to_owned()),
                column: Some("p".to_owned()),
            };
            let (df, t) = (Printed::parse(&captures[1]), Printed::parse(&captures[2]));
            let (Some(df), Some(t), Some(p)) = (df, t, Printed::parse(&captures[4])) else {
                continue;
            };
            let p = match &captures[3] {
                "<" => StatedP::Below(p.value),
                ">" => StatedP::Above(p.value),
                _ => StatedP::Equals(p),
            };
            all.extend(found(place, &p, &t, Span::exact(df.value)));
        }
    }
    all
}

fn found(place: Place, p: &StatedP, t: &Printed, df: Span) -> Option<Found> {
    let mismatch = p_of_t(p, t, df)?;
    let stated = match p {
        StatedP::Equals(printed) => printed.clone(),
        StatedP::Below(value) | StatedP::Above(value) => {
            Printed { value: *value, decimals: 3, unit: None, approximate: false }
        }
    };
    let freedom = if df.high > 1e8 {
        "any degrees of freedom".to_owned()
    } else if df.low == df.high {
        format!("{} degrees of freedom", df.low)
    } else {
        format!("{:.0} to {:.0} degrees of freedom", df.low, df.high)
    };
    let sign = match p {
        StatedP::Equals(_) => "=",
        StatedP::Below(_) => "<",
        StatedP::Above(_) => ">",
    };
    let sentence = format!(
        "p {sign} {} of {} does not belong to t = {} with {freedom}: that gives {:.2e} to {:.2e}",
        stated.value,
        place.row.clone().unwrap_or_default(),
        t.value,
        mismatch.computed_low,
        mismatch.computed_high
    );
    let found = Found::mismatch("p_of_t", Severity::Impossible, place, &stated, &mismatch);
    Some(found.sentence(sentence))
}
