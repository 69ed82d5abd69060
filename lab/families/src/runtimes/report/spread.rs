//! Each variant over all configurations and in each, with the picture of every run.

use lab_family::Unit::Share;
use lab_report::Column::{Any, Code, Count, Number, Text, Words};
use lab_report::{CONFIDENCE, Chapter, Entry, Page, Study, Table};
use lab_stats::describe::summarize;
use lab_stats::interval::{Interval, median_interval};

use super::groups::by_configuration;
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
        let interval = |interval: &Option<Interval>| match interval {
            Some(interval) => Entry::Range(interval.low, interval.high, unit),
            None => Entry::text("none, n < 6"),
        };
        let table = Table::over(
            summaries,
            &[
                Code("", "variant", &|(group, ..)| group.variant),
                Text("", "config", &|(group, ..)| &group.config),
                Words("", "time_scale", &|(group, ..)| group.time_scale()),
                Count("", "n", &|(_, of, _)| of.n),
                Number("", "mean", unit, &|(_, of, _)| Some(of.mean)),
                Number("", "median", unit, &|(_, of, _)| Some(of.median)),
                Any("", "median_interval", &|(.., of_median)| interval(of_median)),
                Number("", "sd", unit, &|(_, of, _)| of.sd),
                Number("", "cv", Share, &|(_, of, _)| of.cv),
                Number("", "min", unit, &|(_, of, _)| Some(of.min)),
                Number("", "max", unit, &|(_, of, _)| Some(of.max)),
                Any("", "p5_p95", &|(_, of, _)| Entry::Range(of.p5, of.p95, unit)),
            ],
        );
        let (name, what) = (format!("cells-{metric}"), format!("{title} by configuration"));
        page.chapter(Chapter::beside(&name, &what, table));
    }
    lowest::write(study, page);
    variance::write(study, page);
    over::write(study, page);
    let mut asked = study.compared.iter().map(|one| one.comparison.metric.as_str());
    if study.compared.is_empty() || asked.any(|metric| !OF_TOKENS.contains(&metric)) {
        pictures::efficiency(study, page);
    }
}
