//! Each variant in each configuration, and what the published report said beside it.

use std::collections::{BTreeMap, BTreeSet};

use lab_stats::describe::{median, summarize};
use lab_stats::interval::median_interval;
use lab_stats::variance::{Observation, shares};

use super::Page;
use super::study::is_of_tr115;
use crate::frame::{configuration, time_scale_label, time_scale_ppm};
use crate::measure::{Measured, Unit, unit};
use crate::published::published;
use crate::study::Study;
use crate::tables::{Cell, Table};

const METRICS: [(&str, &str); 3] = [
    ("efficiency_as_published", "Efficiency as published"),
    ("efficiency_true", "True efficiency (against solo runs)"),
    ("wall_ns", "Wall time"),
];
const CONFIDENCE: f64 = 0.95;
const COLUMNS: [(&str, &str); 12] = [
    ("variant", "variant"),
    ("configuration", "config"),
    ("time", "time_scale"),
    ("n", "n"),
    ("mean", "mean"),
    ("median", "median"),
    ("median's interval", "median_interval"),
    ("sd", "sd"),
    ("CV", "cv"),
    ("min", "min"),
    ("max", "max"),
    ("P5–P95", "p5_p95"),
];

pub(super) fn write(study: &Study, page: &mut Page) {
    page.heading("Every variant in every configuration");
    page.paragraph(
        "Exploratory: no verdict is given for a single cell. A median's interval needs six runs \
         and is made of order statistics (at least 95 %).",
    );
    for (metric, title) in METRICS {
        let table = by_cell(study, metric);
        if table.is_empty() {
            page.paragraph(&format!("{title}: no analysed run has it."));
            continue;
        }
        page.folded(&format!("cells-{metric}"), title, &table);
    }
    beside_published(study, page);
    speed_ups(study, page);
    variance(study, page);
}

fn by_cell(study: &Study, metric: &str) -> Table {
    let mut table = Table::new(&COLUMNS);
    for variant in study.measured_variants() {
        for config in configurations(study) {
            let runs = study.concurrent_of(variant);
            let here: Vec<&Measured> =
                runs.filter(|one| configuration(&one.row.run) == config).collect();
            let values: Vec<f64> = here.iter().filter_map(|one| one.value(metric)).collect();
            table_row(&mut table, variant, &config, &scale_of(&here), &values, unit(metric));
        }
    }
    table
}

fn table_row(
    table: &mut Table,
    variant: &str,
    config: &str,
    scale: &str,
    values: &[f64],
    unit: Unit,
) {
    let Some(summary) = summarize(values) else { return };
    let number = |value: f64| Cell::value(Some(value), unit);
    let interval = median_interval(values, CONFIDENCE);
    table.row(vec![
        Cell::code(variant),
        Cell::text(config),
        Cell::text(scale),
        Cell::count(summary.n),
        number(summary.mean),
        number(summary.median),
        interval.map_or_else(|| Cell::text("none, n < 6"), |i| Cell::Range(i.low, i.high, unit)),
        Cell::value(summary.sd, unit),
        Cell::value(summary.cv, Unit::Share),
        number(summary.min),
        number(summary.max),
        Cell::Range(summary.p5, summary.p95, unit),
    ]);
}

/// Published mean, median, sd and minimum of the as-published efficiency beside ours, pooled over
/// the configurations as the report pooled them.
fn beside_published(study: &Study, page: &mut Page) {
    let published = published(&study.frame.run_file.attachments);
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("TR115 mean", "published_mean"),
        ("here", "mean"),
        ("TR115 median", "published_median"),
        ("here", "median"),
        ("TR115 sd", "published_sd"),
        ("here", "sd"),
        ("TR115 min", "published_min"),
        ("here", "min"),
        ("TR115 peak", "published_peak"),
        ("here", "max"),
    ]);
    for variant in study.measured_variants() {
        let runtime = variant.trim_end_matches("_as_published");
        let (Some(said), Some(here)) =
            (published.get(runtime), summarize(&tr115_values(study, variant)))
        else {
            continue;
        };
        let theirs = |value: Option<f64>| Cell::value(value.map(|v| v / 100.0), Unit::Share);
        let ours = |value: f64| Cell::value(Some(value), Unit::Share);
        table.row(vec![
            Cell::code(variant),
            theirs(said.mean),
            ours(here.mean),
            theirs(said.median),
            ours(here.median),
            theirs(said.sd),
            Cell::value(here.sd, Unit::Share),
            theirs(said.min),
            ours(here.min),
            theirs(said.peak),
            ours(here.max),
        ]);
    }
    if table.is_empty() {
        return;
    }
    page.heading("What TR115 said, beside it");
    page.paragraph(
        "Efficiency as published, pooled over the configurations of TR115. The `_as_published` \
         variants do what the published code did, the others what the report describes.",
    );
    page.table("published", &table);
}

fn tr115_values(study: &Study, variant: &str) -> Vec<f64> {
    let runs = study.concurrent_of(variant);
    let theirs = runs.filter(|one| is_of_tr115(one));
    theirs.filter_map(|one| one.value("efficiency_as_published")).collect()
}

fn speed_ups(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("as published", "as_published"),
        ("true", "true"),
        ("runs with a solo baseline", "runs"),
    ]);
    for variant in study.measured_variants() {
        let paired: Vec<&Measured> = study
            .concurrent_of(variant)
            .filter(|one| one.value("speed_up_true").is_some())
            .collect();
        let of = |metric: &str| {
            median(&paired.iter().filter_map(|one| one.value(metric)).collect::<Vec<_>>())
        };
        let Some(against_solo) = of("speed_up_true") else { continue };
        table.row(vec![
            Cell::code(variant),
            Cell::value(of("speed_up_as_published"), Unit::Times),
            Cell::value(Some(against_solo), Unit::Times),
            Cell::count(paired.len()),
        ]);
    }
    page.heading("Speed-up, twice");
    if table.is_empty() {
        page.paragraph(
            "No concurrent run has a solo baseline in its block, so there is no true one.",
        );
        return;
    }
    page.paragraph(
        "As published: the agents' durations, measured while they ran together, over the wall \
         time. True: the durations of the same agents alone, same block and lengths, over that \
         wall time. Below 1× the agents had better run one after the other. Medians over runs.",
    );
    page.table("speedups", &table);
}

fn variance(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("metric", "metric"),
        ("variants", "variants"),
        ("block", "block"),
        ("configuration", "config"),
        ("variant", "variant"),
        ("residue", "residue"),
        ("runs", "runs"),
    ]);
    for (metric, _) in METRICS {
        // One variant that runs its agents one after the other would be all that a share shows.
        for (who, serial_too) in [("all", true), ("that overlap their agents", false)] {
            if let Some(row) = variance_row(study, metric, who, serial_too) {
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
         drawn per block and configuration.",
    );
    page.table("variance", &table);
}

fn variance_row(study: &Study, metric: &str, who: &str, serial_too: bool) -> Option<Vec<Cell>> {
    let runs: Vec<(&Measured, f64)> = study
        .concurrent()
        .filter(|one| !study.frame.is_twin(one.variant()))
        .filter(|one| serial_too || !study.is_serial(one.variant()))
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
            value: if metric.ends_with("_ns") { value.ln() } else { *value },
            levels: vec![("block", block), ("config", config), ("variant", one.variant())],
        })
        .collect();
    let attribution = shares(&observations).ok()?;
    let mut row = vec![Cell::code(metric), Cell::text(who)];
    let parts = attribution.factors.iter().map(|factor| factor.share);
    row.extend(parts.map(|share| Cell::value(Some(share), Unit::Share)));
    row.push(Cell::value(Some(attribution.residue), Unit::Share));
    row.push(Cell::count(observations.len()));
    Some(row)
}

/// The configurations of the concurrent runs, by name.
pub(super) fn configurations(study: &Study) -> BTreeSet<String> {
    study.concurrent().map(|one| configuration(&one.row.run)).collect()
}

/// The time scale of some runs; where there are several, with the cells that each belongs to.
pub(super) fn scale_of(runs: &[&Measured]) -> String {
    let mut cells: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for one in runs {
        let run = &one.row.run;
        cells.entry(time_scale_ppm(run)).or_default().insert(configuration(run));
    }
    let several = cells.len() > 1;
    let one = |(ppm, names): (u64, BTreeSet<String>)| match names.len() {
        1 if several => {
            format!("{} in {}", time_scale_label(ppm), names.iter().next().expect("one"))
        }
        _ => time_scale_label(ppm),
    };
    cells.into_iter().map(one).collect::<Vec<_>>().join(", ")
}
