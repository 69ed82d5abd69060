//! How much of the variance each factor explains.

use std::collections::BTreeSet;

use lab_family::Unit;
use lab_report::{Entry, Measured, Page, Study, Table};
use lab_stats::variance::{Observation, shares};

use super::groups::{concurrent, serial_variants};
use crate::cells::configuration;

const METRICS: [&str; 3] = ["efficiency_as_published", "efficiency_true", "wall_ns"];

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
    for metric in METRICS {
        // One variant that runs its agents one after the other would be all that a share shows.
        let serial = serial_variants(study);
        for (who, without) in [("all", BTreeSet::new()), ("overlapping", serial)] {
            if let Some(row) = row(study, metric, who, &without) {
                table.row(row);
            }
        }
    }
    page.heading("Where the variance comes from");
    if table.is_empty() {
        page.paragraph("There is too little variation to attribute.");
        return;
    }
    page.paragraph(
        "Share of the sum of squares that each factor explains beyond those to its left (wall time \
         as logarithm, twins left out). The residue holds the interactions too: reply lengths are \
         drawn per block and configuration. Overlapping: without the variants that run their \
         agents one after the other.",
    );
    page.table("variance", &table);
}

fn row(study: &Study, metric: &str, who: &str, without: &BTreeSet<&str>) -> Option<Vec<Entry>> {
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
    let mut row = vec![Entry::code(metric), Entry::text(who)];
    let parts = attribution.factors.iter().map(|factor| factor.share);
    let share = |share| Entry::value(Some(share), Unit::Share);
    row.extend(parts.chain([attribution.residue]).map(share));
    row.push(Entry::count(observations.len()));
    Some(row)
}
