//! Tables of one document against each other.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, number};
use super::grid::{Grid, Record, Stat, same_unit};
use super::group::Group;
use super::link::tokens;
use super::role::Role;
use crate::checks::{Span, bounds, lattice};
use crate::{Document, Place, Severity};

/// More records than this are compared with no other table.
const MOST: usize = 600;

/// Checks what several tables say of one subject, and all tables' values together.
pub(crate) fn check(document: &Document, grids: &[Grid<'_>]) -> Vec<Found> {
    let mut found: Vec<Found> = polling(&document.name, grids, false).into_iter().collect();
    // Summaries beside the document are others' documents.
    let names: BTreeSet<&str> = grids.iter().map(|grid| grid.document).collect();
    let others = names.into_iter().filter(|name| *name != document.name);
    found.extend(others.filter_map(|name| polling(name, grids, true)));
    let records = grids.iter().flat_map(|grid| grid.records.iter().map(move |r| (grid, r)));
    let mut subjects: BTreeMap<BTreeSet<String>, Vec<(&Grid<'_>, &Record<'_>)>> = BTreeMap::new();
    for (grid, record) in records.take(MOST) {
        subjects.entry(tokens(&record.name())).or_default().push((grid, record));
    }
    subjects.remove(&BTreeSet::new());
    for same in subjects.values() {
        for (index, (grid, record)) in same.iter().enumerate() {
            found.extend(around_maximum(grid, record, same));
            for (other_grid, other) in &same[index + 1..] {
                if !std::ptr::eq(*other_grid, *grid) {
                    found.extend(differ(grid, record, other_grid, other));
                }
            }
        }
    }
    found
}

/// An interval whose estimate is what another table calls the subject's maximum.
fn around_maximum(
    grid: &Grid<'_>,
    record: &Record<'_>,
    same: &[(&Grid<'_>, &Record<'_>)],
) -> Option<Found> {
    let get = |role: Role| {
        Group::all(record).into_iter().find_map(|group| group.get(role)).filter(|s| s.sure)
    };
    let (low, high) = (get(Role::Low)?, get(Role::High)?);
    let estimate = get(Role::Estimate)?;
    let (mut maximum, mut mean, mut beyond) = (None, false, None);
    for (other, record) in same {
        for stat in record.stats.iter().filter(|stat| same_unit(&stat.number, &estimate.number)) {
            let equal = Span::of(&stat.number).meets(Span::of(&estimate.number));
            match stat.role {
                Role::Max if equal => maximum = maximum.or(Some(other.place(record, stat))),
                Role::Max if Span::of(&high.number).below(Span::of(&stat.number)) => {
                    beyond = beyond.or(Some(stat.number.value));
                }
                Role::Mean | Role::Percentile(_) if equal => mean = true,
                _ => {}
            }
        }
    }
    let maximum = maximum.filter(|_| !mean && low.number.value < high.number.value)?;
    let further = beyond.map_or(String::new(), |value| {
        format!("; another table has {value}, beyond its upper end")
    });
    let sentence = format!(
        "the interval {} to {} of {} stands around {}, which is a maximum and no estimate of \
         anything{further}",
        number(low.number.value, low.number.decimals),
        number(high.number.value, high.number.decimals),
        record.name(),
        number(estimate.number.value, estimate.number.decimals)
    );
    let how =
        "nothing observed lies above a maximum; an interval around it needs a model of the tail";
    let place = grid.place(record, estimate);
    let check = "interval_around_maximum";
    Some(Found::remark(check, Severity::Doubtful, place, sentence, how).against(maximum))
}

/// One statistic of one metric over everything, in two tables.
fn differ(
    grid: &Grid<'_>,
    record: &Record<'_>,
    other_grid: &Grid<'_>,
    other: &Record<'_>,
) -> Vec<Found> {
    let mut found = Vec::new();
    for stat in record.stats.iter().filter(|stat| stat.sure && stat.role.is_statistic()) {
        let twin = other.stats.iter().filter(|twin| {
            twin.sure
                && twin.role == stat.role
                && twin.metric == stat.metric
                && twin.number.unit == stat.number.unit
                && overall(grid, stat)
                && overall(other_grid, twin)
        });
        for twin in twin {
            let Some(wrong) = bounds::differ(&stat.number, &twin.number) else { continue };
            let sentence = format!(
                "the {} of {} over everything is {} here and {} in line {}",
                stat.role.name(),
                record.name(),
                number(stat.number.value, stat.number.decimals),
                number(twin.number.value, twin.number.decimals),
                twin.line
            );
            let place = grid.place(record, stat);
            let check = "two_tables_differ";
            let remark = Found::mismatch(check, Severity::Doubtful, place, &stat.number, &wrong)
                .sentence(sentence)
                .against(other_grid.place(other, twin));
            found.push(remark);
        }
    }
    found
}

/// Whether a statistic is said to be over all runs: two tables of parts may well differ.
fn overall(grid: &Grid<'_>, stat: &Stat<'_>) -> bool {
    let heading = grid.table.headings.last().map(|heading| tokens(heading)).unwrap_or_default();
    let header = tokens(&stat.header);
    let says = |words: &[&str]| words.iter().any(|w| heading.contains(*w) || header.contains(*w));
    says(&["overall", "all", "aggregate", "aggregated", "grand"])
}

/// Times of all tables on one lattice: something polls. Mean and median of one sample are close
/// to each other and count once, so that a document's medians are taken, or else its means, or
/// else what names no statistic. A summary is one list of one thing, so that two levels and a
/// larger chance are worth a note there.
fn polling(document: &str, grids: &[Grid<'_>], summary: bool) -> Option<Found> {
    let median = |role: Role| matches!(role, Role::Percentile(p) if (p - 0.5).abs() < 1e-9);
    let of = |wanted: &dyn Fn(Role) -> bool| -> Vec<(f64, i32)> {
        let grids = grids.iter().filter(|grid| grid.document == document);
        let stats = grids.flat_map(|grid| &grid.records).flat_map(|record| &record.stats);
        let times = stats
            .filter(|stat| wanted(stat.role) && stat.number.unit.as_deref() == Some("ms"))
            .map(|stat| (stat.number.value, stat.number.decimals));
        let mut values: Vec<(f64, i32)> = times.collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|a, b| a.0 == b.0);
        values
    };
    let kinds: [&dyn Fn(Role) -> bool; 3] =
        [&median, &|role| role == Role::Mean, &|role| role == Role::Value];
    let values = kinds.into_iter().map(of).find(|values| (12..=400).contains(&values.len()))?;
    let decimals = values.iter().map(|(_, decimals)| *decimals).min()?;
    let numbers: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
    let half = 0.5 * 10f64.powi(-decimals);
    let (alpha, levels) = if summary { (5e-3, 2) } else { (5e-4, 4) };
    let found = lattice::find(&numbers, half, alpha, 11);
    let lattice = found.filter(|lattice| lattice.levels >= levels)?;
    let sentence = format!(
        "the {} times in milliseconds of all tables lie on {} multiples of {:.2} (from {:.2} on): \
         something ticks or polls at that step, and differences below it are not resolved",
        numbers.len(),
        lattice.levels,
        lattice.step,
        lattice.offset
    );
    let how = format!(
        "Rayleigh's test of the phases over all steps, p = {:.1e} by simulation of smooth values",
        lattice.p
    );
    let place = Place { document: document.to_owned(), ..Place::default() };
    let severity = if summary { Severity::Note } else { Severity::Doubtful };
    Some(Found::remark("lattice", severity, place, sentence, &how))
}
