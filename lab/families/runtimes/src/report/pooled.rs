//! Each variant over all its concurrent runs, as the published report pools them: spread, the best
//! and the worst place, and how often its rule called a run contended.

use std::cmp::Ordering;

use lab_family::Unit;
use lab_report::{Entry, Measured, Page, Study, Table};
use lab_stats::describe::{Summary, summarize};

use super::groups::{Group, by_variant, is_of_tr115};
use crate::cells::configuration;

const EFFICIENCY: &str = "efficiency_as_published";
const SPEED_UP: &str = "speed_up_as_published";
/// TR115 § 4.3: below this speed-up a run of two agents counts as contended.
const CONTENDED_BELOW: f64 = 1.5;

pub(crate) fn write(study: &Study, page: &mut Page) {
    let groups = by_variant(study, |one| is_of_tr115(study, one));
    let summary = |group| summarize(&Group::values(group, EFFICIENCY));
    let pooled: Vec<(&Group, Summary)> =
        groups.iter().filter_map(|group| Some((group, summary(group)?))).collect();
    if pooled.is_empty() {
        return;
    }
    let share = |value: f64| Entry::Value(value, Unit::Share);
    let table = Table::of(
        pooled,
        &[
            ("variant", "variant", &|(group, _)| Entry::code(group.variant)),
            ("n", "n", &|(_, of)| Entry::count(of.n)),
            ("mean", "mean", &|(_, of)| share(of.mean)),
            ("sd", "sd", &|(_, of)| Entry::value(of.sd, Unit::Share)),
            ("CV", "cv", &|(_, of)| Entry::value(of.cv, Unit::Share)),
            ("P5", "p5", &|(_, of)| share(of.p5)),
            ("P25", "p25", &|(_, of)| share(of.p25)),
            ("median", "median", &|(_, of)| share(of.median)),
            ("P75", "p75", &|(_, of)| share(of.p75)),
            ("P95", "p95", &|(_, of)| share(of.p95)),
            ("best run in", "best_config", &|(group, _)| place(group, Ordering::Greater)),
            ("worst run in", "worst_config", &|(group, _)| place(group, Ordering::Less)),
            ("speed-up", "speed_up", &|(group, _)| range(group)),
            ("contended", "contended_share", &|(group, _)| contended(group)),
        ],
    );
    page.beside("pooled", "Efficiency as published, pooled over the configurations", &table);
}

/// The configuration of the run at one end.
fn place(group: &Group, end: Ordering) -> Entry {
    let value = |one: &&&Measured| one.value(EFFICIENCY).unwrap_or(f64::NAN);
    let known = group.runs.iter().filter(|one| one.value(EFFICIENCY).is_some());
    let further = |a: &&&Measured, b: &&&Measured| match end {
        Ordering::Less => value(b).total_cmp(&value(a)),
        _ => value(a).total_cmp(&value(b)),
    };
    Entry::optional(known.max_by(further).map(|one| configuration(&one.row.run)))
}

fn range(group: &Group) -> Entry {
    let of = summarize(&group.values(SPEED_UP));
    of.map_or(Entry::Missing, |of| Entry::Range(of.min, of.max, Unit::Times))
}

fn contended(group: &Group) -> Entry {
    let values = group.values(SPEED_UP);
    let below = values.iter().filter(|value| **value < CONTENDED_BELOW).count();
    Entry::value((!values.is_empty()).then(|| below as f64 / values.len() as f64), Unit::Share)
}
