//! How often five runs with free reply lengths tell one program from itself.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_report::{Entry, Page, Study, Table, study::is_unpaired};
use lab_stats::false_finds::false_find_rate;

use super::groups::concurrent;
use crate::cells::configuration;

/// Runs of a cell in TR115.
const RUNS: usize = 5;
/// The gap that the published ranking was built on: its best four means lie within 1.0 points.
const GAP: f64 = 0.01;
const DRAWS: usize = 10_000;

pub(crate) fn write(study: &Study, page: &mut Page) {
    if !is_unpaired(study.frame) {
        return;
    }
    page.heading("The lesson");
    let drawn = pools(study).into_iter().filter_map(|(config, pool)| {
        let rates = false_find_rate(&pool, RUNS, GAP, DRAWS, study.seed())?;
        Some((config, pool.len(), rates))
    });
    let share = |share: f64| Entry::Value(share, Unit::Share);
    let table = Table::of(
        drawn,
        &[
            ("configuration", "config", &|(config, ..)| Entry::text(config)),
            ("pool", "pool", &|(_, pool, _)| Entry::count(*pool)),
            ("means differ > 1 pp", "means_differ", &|(.., of)| share(of.means_differ)),
            ("best runs differ > 1 pp", "maxima_differ", &|(.., of)| share(of.maxima_differ)),
            ("groups separated", "separated", &|(.., of)| share(of.separated)),
            ("Welch p < 0.05", "welch_significant", &|(.., of)| share(of.welch_significant)),
        ],
    );
    if table.is_empty() {
        page.paragraph("It cannot be drawn here: the reference has no analysed concurrent run.");
        return;
    }
    page.paragraph(&format!(
        "Two groups of {RUNS} runs are drawn {DRAWS} times from the runs of one program (the \
         reference and its twin). How often do they look like two programs? Each share is a false \
         find."
    ));
    page.table("lesson", &table);
}

/// The score of the reference and its twin together, by configuration.
fn pools(study: &Study) -> BTreeMap<String, Vec<f64>> {
    let reference = study.reference();
    let twins = study.frame.twins();
    let mut pools: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let same = |variant: &str| variant == reference || twins.contains(&(variant, reference));
    for one in concurrent(study).filter(|one| same(one.variant())) {
        let score = one.value("efficiency_as_published");
        pools.entry(configuration(&one.row.run)).or_default().extend(score);
    }
    pools
}
