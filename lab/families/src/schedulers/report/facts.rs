//! What this family adds on what was run and to the checks of the lab.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_report::{Study, show};
use lab_stats::describe::median;

use super::level;
use crate::schedulers::ORACLE;

/// What calibrated work really took, and an empty round trip through the pool.
pub(crate) fn run_facts(study: &Study) -> Vec<String> {
    work_durations(study).into_iter().chain(round_trip(study)).collect()
}

/// A known answer: the policy that knows the costs regrets nothing.
pub(crate) fn oracle_regret(study: &Study) -> Option<String> {
    let oracle = study.all.iter().filter(|one| one.variant() == ORACLE);
    let regrets: Vec<f64> = oracle.filter_map(|one| one.value("regret_ns")).collect();
    let most = regrets.iter().copied().reduce(f64::max)?;
    Some(match most {
        0.0 => format!("Known answer: the oracle's regret is 0 in all {} replays.", regrets.len()),
        most => format!(
            "**Known answer missed**: the oracle has a regret of up to {}; choose nothing by a \
             regret of this report.",
            show(most, Unit::Ns)
        ),
    })
}

fn work_durations(study: &Study) -> Option<String> {
    let mut took: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for one in &study.all {
        let cell = &one.row.run.cell;
        let asked = match level(cell, "test") {
            "stream" => level(cell, "work"),
            "wake" => level(cell, "load"),
            _ => continue,
        };
        if let Some(ns) = one.value("work_measured_ns").filter(|ns| *ns > 0.0) {
            took.entry(asked).or_default().push(ns);
        }
    }
    let middles: Vec<(&str, f64, &Vec<f64>)> =
        took.iter().filter_map(|(asked, all)| Some((*asked, median(all)?, all))).collect();
    let shown = middles.iter().map(|(asked, ns, _)| format!("`{asked}` {}", show(*ns, Unit::Ns)));
    let shown: Vec<String> = shown.collect();
    let over_median =
        middles.iter().flat_map(|(_, middle, all)| all.iter().map(move |n| n / middle));
    let least = over_median.clone().reduce(f64::min)?;
    let most = over_median.reduce(f64::max)?;
    Some(format!(
        "Calibrated work of the first class, measured on an idle thread before each test, medians: \
         {}; a run has {} to {} of its median.",
        shown.join(", "),
        show(least, Unit::Times),
        show(most, Unit::Times)
    ))
}

fn round_trip(study: &Study) -> Option<String> {
    let all = study.all.iter().filter_map(|one| one.value("offload_round_trip_ns"));
    let all: Vec<f64> = all.filter(|ns| *ns > 0.0).collect();
    let middle = show(median(&all)?, Unit::Ns);
    let runs = all.len();
    Some(format!("An empty round trip through the pool takes {middle} (median over {runs} runs)."))
}
