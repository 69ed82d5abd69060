//! How much of the variance each factor explains.

use std::collections::BTreeSet;

use lab_family::Unit::{self, Share};
use lab_report::Column::{Code, Count, Number, Text};
use lab_report::{Chapter, Measured, Page, Study, Table, show};
use lab_stats::variance::{Observation, shares};

use super::groups::{concurrent, serial_variants};
use crate::runtimes::cells::configuration;

const OVERLAPPING: &str = "overlapping";
/// In the order in which they explain.
const FACTORS: [&str; 3] = ["block", "configuration", "variant"];
const SCORE: &str = "efficiency_as_published";
const METRICS: [&str; 3] = [SCORE, "efficiency_true", "wall_ns"];

pub(crate) fn write(study: &Study, page: &mut Page) {
    // One variant that runs its agents one after the other would be all that a share shows.
    let who = [("all", BTreeSet::new()), (OVERLAPPING, serial_variants(study))];
    let rows = METRICS.into_iter().flat_map(|metric| {
        let shares = move |(who, without): &(&'static str, BTreeSet<&str>)| {
            let (shares, runs) = shares_of(study, metric, without)?;
            Some((metric, *who, shares, runs))
        };
        who.iter().filter_map(shares)
    });
    let rows: Vec<_> = rows.collect();
    let of_score = rows.iter().find(|(metric, who, ..)| *metric == SCORE && *who == OVERLAPPING);
    if let Some((.., shares, runs)) = of_score {
        let named = FACTORS.iter().zip(shares);
        let named = named.map(|(name, part)| format!("{name} {}", show(*part, Unit::Share)));
        page.paragraph(&format!(
            "The score's variance, without serial variants: {} ({runs} runs).",
            named.collect::<Vec<_>>().join(", ")
        ));
    }
    let share = |shares: &[f64], place: usize| shares.get(place).copied();
    let table = Table::over(
        rows,
        &[
            Code("", "metric", &|(metric, ..)| metric),
            Text("", "variants", &|(_, who, ..)| who),
            Number("", "block", Share, &|(.., shares, _)| share(shares, 0)),
            Number("", "config", Share, &|(.., shares, _)| share(shares, 1)),
            Number("", "variant", Share, &|(.., shares, _)| share(shares, 2)),
            Number("", "residue", Share, &|(.., shares, _)| share(shares, 3)),
            Count("", "runs", &|(.., runs)| *runs),
        ],
    );
    let what =
        "Shares of the variance that block, configuration and variant explain, in this order";
    page.chapter(Chapter::beside("variance", what, table));
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
