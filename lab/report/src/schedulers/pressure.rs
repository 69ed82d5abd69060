//! Section 7: pressure by real load, jobs that are started as soon as the last is done.

use super::bars::ratio;
use super::grid::{self, Line};
use super::trials::{INLINE, OFFLOAD, OURS, PUBLISHED, Trials};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::or_not_measured;
use crate::tables::{Cell, Table};

/// Jobs in flight, and what was published of so many.
const SAID: [(&str, &str); 5] = [
    ("closed_4", "pressure 0.7, GR 0, inline 99 %"),
    ("closed_12", "pressure 2.2, GR 0, inline 100 %"),
    ("closed_20", "pressure 3.8, GR 99, inline 1 %"),
    ("closed_40", "pressure 7.6, GR 99, inline 1 %"),
    ("closed_80", "pressure 10, GR 99, inline 1 %"),
];
pub(super) const GUARDRAILS: [&str; 5] =
    ["gr0_activations", "gr1_activations", "gr2_activations", "gr3_activations", "strikes"];

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("7. Under pressure");
    page.paragraph(
        "Published: a context that says so many tasks are in flight, and no load; 297 activations \
         are 3 × 99 by construction. Here so many tasks each start a job as soon as their last is \
         done, while ticks go on.",
    );
    let loads = closed(trials);
    let mut lines = Vec::new();
    for load in &loads {
        let said = SAID.iter().find(|(name, _)| name == load).map_or("", |(_, said)| said);
        for (metric, what, said) in [
            ("tick_p99_ns", "tick P99", said),
            ("jobs_per_s", "jobs/s", ""),
            ("offload_share", "offloaded", ""),
        ] {
            let line = Line::of("wake", &[("load", load)], metric).labelled(&[load, what]);
            lines.push(line.published(said));
        }
    }
    grid::write(trials, page, "pressure", &["load", "measure"], &lines);
    if loads.is_empty() {
        return;
    }
    let guards = guards(trials, &loads);
    if guards.is_empty() {
        page.paragraph("No policy that ran here counts guardrails.");
    } else {
        page.folded("guardrails", "Guardrails that acted, over all runs of a load", &guards);
    }
    page.paragraph(&reading(trials, &loads));
}

/// The closed loads that ran, the smallest first.
pub(super) fn closed(trials: &Trials) -> Vec<String> {
    let loads = trials.levels("wake", "load").into_iter();
    loads.filter(|load| load.starts_with("closed_")).collect()
}

/// How often a guardrail acted in all runs of a load; `None` where the policy does not count it.
pub(super) fn acted(trials: &Trials, policy: &str, load: &str, counter: &str) -> Option<u64> {
    let runs = trials.rows(policy, "wake", &[("load", load)]);
    let counted: Vec<u64> =
        runs.iter().filter_map(|one| one.row.run.counters.get(counter).copied()).collect();
    (!counted.is_empty()).then(|| counted.iter().sum())
}

fn guards(trials: &Trials, loads: &[String]) -> Table {
    let mut columns = vec![("load", "load"), ("policy", "policy"), ("runs", "runs")];
    columns.extend(GUARDRAILS.map(|name| (name, name)));
    let mut table = Table::new(&columns);
    for load in loads {
        for policy in trials.policies() {
            let counts = GUARDRAILS.map(|name| acted(trials, policy, load, name));
            if counts.iter().all(Option::is_none) {
                continue;
            }
            let runs = trials.rows(policy, "wake", &[("load", load)]).len();
            let mut row = vec![Cell::text(load), Cell::code(policy), Cell::count(runs)];
            row.extend(counts.map(|n| Cell::value(n.map(|n| n as f64), Unit::Count)));
            table.row(row);
        }
    }
    table
}

fn reading(trials: &Trials, loads: &[String]) -> String {
    let Some(most) = loads.last() else { return String::new() };
    let p99 = |a, b| ratio(trials, (a, b), "wake", &[("load", most)], "tick_p99_ns");
    format!(
        "**Reading.** At `{most}` the P99 of ticks over `{OFFLOAD}`'s is {} for `{OURS}`, {} for \
         `{PUBLISHED}` and {} for `{INLINE}`.",
        or_not_measured(p99(OURS, OFFLOAD).as_ref()),
        or_not_measured(p99(PUBLISHED, OFFLOAD).as_ref()),
        or_not_measured(p99(INLINE, OFFLOAD).as_ref()),
    )
}
