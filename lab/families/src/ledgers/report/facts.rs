//! What this family adds on what was run and to the checks of the lab.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_protocol::ledgers::names;
use lab_report::{Study, from_to, show};
use lab_stats::describe::median;

use super::workers::number;
use crate::ledgers::metrics::divide_by;
use crate::ledgers::slim::{REPETITIONS, repetitions};

pub(crate) fn run_facts(study: &Study) -> Vec<String> {
    let mut counts: Vec<usize> =
        study.all.iter().map(|one| repetitions(&one.row.samples)).collect();
    counts.sort_unstable();
    let (fewest, most) = (counts.first().unwrap_or(&0), counts.last().unwrap_or(&0));
    let mut facts = vec![format!(
        "A run repeats its work {} times and gives the median over its repetitions; intervals are \
         over blocks.",
        from_to(fewest, most)
    )];
    let by = divide_by(&study.section);
    if by > 1 {
        facts.push(format!(
            "**Smoke test**: transactions and busy work are divided by {by}, so its times say that \
             the sweep works and nothing else."
        ));
    }
    let is_slim = |one: &&lab_report::Measured| one.row.samples.columns.contains_key(REPETITIONS);
    let slim = study.all.iter().filter(is_slim).count();
    if slim > 0 {
        facts.push(format!(
            "Samples: {slim} runs keep the one or two middle repetitions, on which all numbers \
             rest."
        ));
    }
    facts
}

/// What a transaction's busy work really took, beside what was asked for.
pub(crate) fn busy_work(study: &Study) -> Option<String> {
    let mut measured: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for run in study.all.iter().map(|one| &one.row.run) {
        let asked = number(&run.cell, "work_ns").filter(|ns| *ns > 0);
        let took = run.counters.get(names::WORK_MEASURED_PS).map(|&ps| ps as f64 / 1e3);
        if let (Some(asked), Some(took)) = (asked, took) {
            measured.entry(asked).or_default().push(took);
        }
    }
    let shown = measured.iter().filter_map(|(asked, took)| {
        Some(format!("{asked} ns took {}", show(median(took)?, Unit::Ns)))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| {
        format!("Busy work, asked for and measured on an idle thread: {}.", shown.join("; "))
    })
}
