//! How much of the variance each factor explains.

use std::collections::BTreeSet;

use lab_family::Unit;
use lab_report::{Entry, Measured, Page, Study, Table, show};
use lab_stats::variance::{Observation, shares};

use super::groups::{concurrent, serial_variants};
use crate::cells::configuration;

const OVERLAPPING: &str = "overlapping";
/// In the order in which they explain.
const FACTORS: [&str; 3] = ["block", "configuration", "variant"];
const SCORE: &str = "efficiency_as_published";
const METRICS: [&str; 3] = [SCORE, "efficiency_true", "wall_ns"];

pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("metric", "metric"),
        ("variants", "variants"),
        ("block", "block"),
        ("configuration", "config"),
        ("variant", "variant"),
        ("residue", "residue"),
        ("runs", "runs"),
    ]);
    let mut of_score: Option<String> = None;
    for metric in METRICS {
        // One variant that runs its agents one after the other would be all that a share shows.
        let serial = serial_variants(study);
        for (who, without) in [("all", BTreeSet::new()), (OVERLAPPING, serial)] {
            let Some((shares, runs)) = shares_of(study, metric, &without) else { continue };
            if who == OVERLAPPING && metric == SCORE {
                let named = FACTORS.iter().zip(&shares);
                let named =
                    named.map(|(name, part)| format!("{name} {}", show(*part, Unit::Share)));
                let named: Vec<String> = named.collect();
                of_score = Some(format!("{} ({runs} runs)", named.join(", ")));
            }
            let mut row = vec![Entry::code(metric), Entry::text(who)];
            row.extend(shares.iter().map(|part| Entry::Value(*part, Unit::Share)));
            row.push(Entry::count(runs));
            table.row(row);
        }
    }
    if table.is_empty() {
        return;
    }
    if let Some(shares) = of_score {
        page.paragraph(&format!("The score's variance, without serial variants: {shares}."));
    }
    let what =
        "Shares of the variance that block, configuration and variant explain, in this order";
    page.beside("variance", what, &table);
}

/// The share of each factor, then the residue; and of how many runs.
fn shares_of(study: &Study, metric: &str, without: &BTreeSet<&str>) -> Option<(Vec<f64>, usize)> {
    let runs: Vec<(&Measured, f64)> = concurrent(study)
        .filter(|one| !study.frame.is_twin(one.variant()) && !without.contains(one.variant()))
        .filter_map(|one| Some((one, one.value(metric)?)))
        .collect();
    let levels: Vec<(String, String)> = runs
        .iter()
        .map(|(one, _)| (one.row.run.block.to_string(), configuration(&one.row.run)))
        .collect();
    let observations: Vec<Observation> = runs
        .iter()
        .zip(&levels)
        .map(|((one, value), (block, config))| Observation {
            value: if study.unit(metric) == Unit::Ns { value.ln() } else { *value },
            levels: vec![("block", block), ("config", config), ("variant", one.variant())],
        })
        .collect();
    let attribution = shares(&observations).ok()?;
    let parts = attribution.factors.iter().map(|factor| factor.share);
    Some((parts.chain([attribution.residue]).collect(), observations.len()))
}
