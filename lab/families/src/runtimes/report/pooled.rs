//! Each variant over all its concurrent runs, as the published report pools them: spread, the best
//! and the worst place, and how often its rule called a run contended.

use std::cmp::Ordering;

use lab_family::Unit::{self, Share};
use lab_report::Column::{Any, Code, Count, Number};
use lab_report::{Chapter, Entry, Measured, Page, Study, Table};
use lab_stats::describe::summarize;

use super::groups::{Group, by_variant, is_of_tr115};
use crate::runtimes::cells::configuration;

const EFFICIENCY: &str = "efficiency_as_published";
const SPEED_UP: &str = "speed_up_as_published";
/// TR115 § 4.3: below this speed-up a run of two agents counts as contended.
const CONTENDED_BELOW: f64 = 1.5;

pub(crate) fn write(study: &Study, page: &mut Page) {
    let groups = by_variant(study, |one| is_of_tr115(study, one));
    let summary = |group| summarize(&Group::values(group, EFFICIENCY));
    let pooled = groups.iter().filter_map(|group| Some((group, summary(group)?)));
    let table = Table::over(
        pooled,
        &[
            Code("", "variant", &|(group, _)| group.variant),
            Count("", "n", &|(_, of)| of.n),
            Number("", "mean", Share, &|(_, of)| Some(of.mean)),
            Number("", "sd", Share, &|(_, of)| of.sd),
            Number("", "cv", Share, &|(_, of)| of.cv),
            Number("", "p5", Share, &|(_, of)| Some(of.p5)),
            Number("", "p25", Share, &|(_, of)| Some(of.p25)),
            Number("", "median", Share, &|(_, of)| Some(of.median)),
            Number("", "p75", Share, &|(_, of)| Some(of.p75)),
            Number("", "p95", Share, &|(_, of)| Some(of.p95)),
            Any("", "best_config", &|(group, _)| place(group, Ordering::Greater)),
            Any("", "worst_config", &|(group, _)| place(group, Ordering::Less)),
            Any("", "speed_up", &|(group, _)| range(group)),
            Any("", "contended_share", &|(group, _)| contended(group)),
        ],
    );
    let what = "Efficiency as published, pooled over the configurations";
    page.chapter(Chapter::beside("pooled", what, table));
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
