//! Two tables of one document that state one quantity.

use std::collections::BTreeSet;

use super::found::{Found, number};
use super::grid::{Grid, Record, Stat, in_unit};
use super::link::tokens;
use super::role::Role;
use crate::checks::{Span, bounds};
use crate::{Printed, Severity};

/// Tables and rows beyond which pairs are not compared.
const MOST_TABLES: usize = 80;
const MOST_ROWS: usize = 200;

/// Steps that a number must be from zero to tell two quantities apart.
const TELLING: f64 = 50.0;

/// Compares every table with those after it. Which tables are about the same runs is not stated:
/// two are, where most of what both state is the same. What is not is then a contradiction, or
/// a row that was measured again without a word.
pub(crate) fn check(grids: &[Grid<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    let small: Vec<&Grid<'_>> =
        grids.iter().filter(|grid| grid.records.len() <= MOST_ROWS).take(MOST_TABLES).collect();
    for (index, first) in small.iter().enumerate() {
        for second in &small[index + 1..] {
            if first.document == second.document {
                found.extend(compare(first, second));
            }
        }
    }
    found
}

struct Pair<'g, 'a> {
    record: &'g Record<'a>,
    first: &'g Stat<'a>,
    other: &'g Record<'a>,
    second: &'g Stat<'a>,
    /// In the first one's unit.
    number: Printed,
}

fn compare(first: &Grid<'_>, second: &Grid<'_>) -> Vec<Found> {
    let mut pairs = Vec::new();
    for record in &first.records {
        let Some(other) = partner(first, record, second) else { continue };
        for stat in record.stats.iter().filter(|stat| stat.sure && comparable(stat.role)) {
            if let Some((same, number)) = counterpart(stat, other) {
                pairs.push(Pair { record, first: stat, other, second: same, number });
            }
        }
    }
    let differs = |pair: &Pair<'_, '_>| bounds::differ(&pair.number, &pair.first.number);
    let telling = |pair: &&Pair<'_, '_>| {
        let step = 2.0 * pair.first.number.half_step().max(pair.number.half_step());
        pair.first.number.value.abs() >= TELLING * step
    };
    let agree: BTreeSet<String> = pairs
        .iter()
        .filter(telling)
        .filter(|pair| differs(pair).is_none())
        .map(|pair| pair.first.number.value.to_string())
        .collect();
    let wrong: Vec<_> =
        pairs.iter().filter_map(|pair| differs(pair).map(|mismatch| (pair, mismatch))).collect();
    if agree.len() < 2 || 2 * wrong.len() > agree.len() {
        return Vec::new();
    }
    let describe = |(pair, mismatch): (&Pair<'_, '_>, crate::checks::Mismatch)| {
        let sentence = format!(
            "`{}` of {} is {} here and {} in line {}; {} other numbers of the two tables agree",
            pair.second.header,
            pair.other.name(),
            number(pair.number.value, pair.number.decimals),
            number(pair.first.number.value, pair.first.number.decimals),
            pair.first.line,
            agree.len()
        );
        let place = second.place(pair.other, pair.second);
        let against = first.place(pair.record, pair.first);
        Found::mismatch("tables_disagree", Severity::Doubtful, place, &pair.number, &mismatch)
            .against(against)
            .sentence(sentence)
    };
    wrong.into_iter().map(describe).collect()
}

fn comparable(role: Role) -> bool {
    role.is_statistic() || matches!(role, Role::Value | Role::Estimate | Role::Sum)
}

/// The row of the other table that is about the same: the same labels, or the same but for those
/// that the heading of the table states that has fewer.
fn partner<'g, 'a>(
    first: &Grid<'a>,
    record: &Record<'a>,
    second: &'g Grid<'a>,
) -> Option<&'g Record<'a>> {
    let own = labels(record);
    let mut partners = second.records.iter().filter(|other| {
        let theirs = labels(other);
        let stated = |grid: &Grid<'_>, missing: &BTreeSet<String>| {
            let heading = grid.table.headings.last().map(|text| tokens(text)).unwrap_or_default();
            missing.iter().all(|label| tokens(label).is_subset(&heading))
        };
        let missing_here: BTreeSet<String> = theirs.difference(&own).cloned().collect();
        let missing_there: BTreeSet<String> = own.difference(&theirs).cloned().collect();
        let shared = own.intersection(&theirs).count() > 0;
        shared && stated(first, &missing_here) && stated(second, &missing_there)
    });
    let partner = partners.next()?;
    partners.next().is_none().then_some(partner)
}

fn labels(record: &Record<'_>) -> BTreeSet<String> {
    let texts = record.labels.iter().map(|(_, text)| text.trim().to_lowercase());
    texts.filter(|text| !text.is_empty()).collect()
}

/// The statistic of the same name, where there is exactly one, in the unit of the first.
fn counterpart<'g, 'a>(stat: &Stat<'_>, other: &'g Record<'a>) -> Option<(&'g Stat<'a>, Printed)> {
    let named = |metric: &str| stat.role != Role::Value || !metric.is_empty();
    let same = |candidate: &&Stat<'_>| {
        let metric = candidate.metric == stat.metric
            || stat.role.is_statistic() && (candidate.metric.is_empty() || stat.metric.is_empty());
        candidate.sure && candidate.role == stat.role && metric && named(&candidate.metric)
    };
    let mut candidates = other.stats.iter().filter(same);
    let candidate = candidates.next()?;
    if candidates.next().is_some() {
        return None;
    }
    let number = match (&stat.number.unit, &candidate.number.unit) {
        (Some(unit), Some(_)) => in_unit(&candidate.number, unit)?,
        (None, None) => candidate.number.clone(),
        _ => return None,
    };
    Span::of(&number).is_finite().then_some((candidate, number))
}
