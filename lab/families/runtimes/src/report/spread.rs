//! Each variant in each configuration, with the picture of every run.

use lab_family::Unit;
use lab_report::effect::CONFIDENCE;
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::tables::{Entry, Table};
use lab_stats::describe::summarize;
use lab_stats::interval::median_interval;

use super::groups::{Group, by_configuration, scale_of};
use super::pictures;

const METRICS: [(&str, &str); 3] = [
    ("efficiency_as_published", "Efficiency as published"),
    ("efficiency_true", "True efficiency (against solo runs)"),
    ("wall_ns", "Wall time"),
];
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

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("Every variant in every configuration");
    page.paragraph(
        "Exploratory: no verdict is given for a single cell. A median's interval needs six runs \
         and is made of order statistics (at least 95 %).",
    );
    let groups = by_configuration(study);
    for (metric, title) in METRICS {
        let mut table = Table::new(&COLUMNS);
        groups.iter().filter_map(|group| row(study, group, metric)).for_each(|row| table.row(row));
        if table.is_empty() {
            page.paragraph(&format!("{title}: no analysed run has it."));
            continue;
        }
        page.folded(&format!("cells-{metric}"), title, &table);
    }
    pictures::efficiency(study, page);
}

fn row(study: &Study, group: &Group, metric: &str) -> Option<Vec<Entry>> {
    let (values, unit) = (group.values(metric), study.unit(metric));
    let summary = summarize(&values)?;
    let number = |value: f64| Entry::value(Some(value), unit);
    let interval = median_interval(&values, CONFIDENCE);
    Some(vec![
        Entry::code(group.variant),
        Entry::text(&group.config),
        Entry::text(scale_of(group.runs.iter().copied())),
        Entry::count(summary.n),
        number(summary.mean),
        number(summary.median),
        interval.map_or_else(|| Entry::text("none, n < 6"), |i| Entry::Range(i.low, i.high, unit)),
        Entry::value(summary.sd, unit),
        Entry::value(summary.cv, Unit::Share),
        number(summary.min),
        number(summary.max),
        Entry::Range(summary.p5, summary.p95, unit),
    ])
}
