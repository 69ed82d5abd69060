//! The lesson of the published design: five runs a cell, lengths drawn freely, no pairs.

use std::collections::BTreeMap;

use lab_stats::false_finds::false_find_rate;

use super::Page;
use crate::frame::configuration;
use crate::measure::Unit;
use crate::study::{Study, is_unpaired};
use crate::tables::{Cell, Table};

const METRIC: &str = "efficiency_as_published";
/// Runs of a cell in TR115.
const RUNS: usize = 5;
/// The gap that the published ranking was built on: its best four means lie within 1.0 points.
const GAP: f64 = 0.01;
const DRAWS: usize = 10_000;

pub(super) fn write(study: &Study, page: &mut Page) {
    if !is_unpaired(study.frame) {
        return;
    }
    page.heading("The lesson");
    let pools = pools(study);
    let mut table = Table::new(&[
        ("configuration", "config"),
        ("pool", "pool"),
        ("means differ > 1 pp", "means_differ"),
        ("best runs differ > 1 pp", "maxima_differ"),
        ("groups separated", "separated"),
        ("Welch p < 0.05", "welch_significant"),
    ]);
    for (config, pool) in &pools {
        let seed = study.frame.run_file.seed;
        let Some(rates) = false_find_rate(pool, RUNS, GAP, DRAWS, seed) else { continue };
        let share = |value: f64| Cell::value(Some(value), Unit::Share);
        table.row(vec![
            Cell::text(config),
            Cell::count(pool.len()),
            share(rates.means_differ),
            share(rates.maxima_differ),
            share(rates.separated),
            share(rates.welch_significant),
        ]);
    }
    if table.is_empty() {
        page.paragraph("It cannot be drawn here: the reference has no analysed concurrent run.");
        return;
    }
    page.paragraph(&format!(
        "Two groups of {RUNS} runs are drawn {DRAWS} times from the runs of one program (the \
         reference and its twin together). How often do they look like two programs, when reply \
         lengths are free? Each share is a false find."
    ));
    page.table("lesson", &table);
}

/// `METRIC` of the reference and its twin, by configuration.
fn pools(study: &Study) -> BTreeMap<String, Vec<f64>> {
    let reference = study.frame.run_file.analysis.reference.as_str();
    let twins = study.frame.twins();
    let same = |variant: &str| variant == reference || twins.contains(&(variant, reference));
    let mut pools: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for one in study.concurrent().filter(|one| same(one.variant())) {
        pools.entry(configuration(&one.row.run)).or_default().extend(one.value(METRIC));
    }
    pools
}
