//! Each variant over all configurations and in each, with the picture of every run.

use lab_family::Unit;
use lab_report::{CONFIDENCE, Entry, Page, Study, Table};
use lab_stats::describe::summarize;
use lab_stats::interval::{Interval, median_interval};

use super::groups::{Group, by_configuration, time_scale_of};
use super::{lowest, over, pictures, pooled, variance, within};

const METRICS: [(&str, &str); 4] = [
    ("efficiency_as_published", "Efficiency as published"),
    ("speed_up_as_published", "Speed-up as published"),
    ("efficiency_true", "True efficiency (against solo runs)"),
    ("wall_ns", "Wall time"),
];

/// What a token costs, and when it comes, says nothing of how well agents share a server.
const OF_TOKENS: [&str; 2] = ["cpu_per_token_ns", "delivery_lag_p50_ns"];

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("Every variant and configuration");
    page.paragraph("Exploratory: no verdict is given here.");
    pooled::write(study, page);
    within::write(study, page);
    let groups = by_configuration(study);
    for (metric, title) in METRICS {
        let unit = study.unit(metric);
        let summaries = groups.iter().filter_map(|group| {
            let values = group.values(metric);
            Some((group, summarize(&values)?, median_interval(&values, CONFIDENCE)))
        });
        let number = |value: f64| Entry::Value(value, unit);
        let interval = |interval: &Option<Interval>| match interval {
            Some(interval) => Entry::Range(interval.low, interval.high, unit),
            None => Entry::text("none, n < 6"),
        };
        let time = |group: &Group| time_scale_of(group.runs.iter().copied());
        let table = Table::of(
            summaries,
            &[
                ("variant", "variant", &|(group, ..)| Entry::code(group.variant)),
                ("configuration", "config", &|(group, ..)| Entry::text(&group.config)),
                ("time", "time_scale", &|(group, ..)| Entry::text(time(group))),
                ("n", "n", &|(_, of, _)| Entry::count(of.n)),
                ("mean", "mean", &|(_, of, _)| number(of.mean)),
                ("median", "median", &|(_, of, _)| number(of.median)),
                ("median's interval", "median_interval", &|(.., of_median)| interval(of_median)),
                ("sd", "sd", &|(_, of, _)| Entry::value(of.sd, unit)),
                ("CV", "cv", &|(_, of, _)| Entry::value(of.cv, Unit::Share)),
                ("min", "min", &|(_, of, _)| number(of.min)),
                ("max", "max", &|(_, of, _)| number(of.max)),
                ("P5–P95", "p5_p95", &|(_, of, _)| Entry::Range(of.p5, of.p95, unit)),
            ],
        );
        if table.is_empty() {
            continue;
        }
        page.beside(&format!("cells-{metric}"), &format!("{title} by configuration"), &table);
    }
    lowest::write(study, page);
    variance::write(study, page);
    over::write(study, page);
    let mut asked = study.compared.iter().map(|one| one.comparison.metric.as_str());
    if study.compared.is_empty() || asked.any(|metric| !OF_TOKENS.contains(&metric)) {
        pictures::efficiency(study, page);
    }
}
