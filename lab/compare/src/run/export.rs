//! The result for other programs and pages.

use std::{collections::BTreeMap, fmt::Write as _};

use lab_console::{Exit, plain};
use lab_stats::describe::{Summary, summarize};
use serde_json::{Value, json};

use super::{
    commands::Command, measures::LayoutReport, metric::Metric, record::Round, table::MetricRow,
    untimed::Counted,
};
use crate::{Settings, State};

/// Of what --json prints.
const SCHEMA: &str = "lab-compare-2";

/// What was measured beside the state, and how.
pub(crate) struct Measured<'a> {
    pub(crate) inner: u32,
    pub(crate) layout: &'a LayoutReport,
    /// Metrics that this machine has not, each with the reason.
    pub(crate) absent: &'a BTreeMap<&'static str, String>,
    pub(crate) counted: &'a Counted,
    /// What was said of the commands: other answers, equal programs, statuses that vary.
    pub(crate) notes: &'a [String],
}

/// The result with everything that it depends on.
pub(crate) fn result(
    state: &State,
    commands: &[Command],
    settings: &Settings,
    seed: u64,
    exit: Exit,
    measured: &Measured<'_>,
) -> Value {
    let Measured { inner, layout, absent, counted, notes } = measured;
    json!({
        "schema": SCHEMA, "seed": seed, "commands": commands, "settings": settings,
        "state": state, "exit": exit.code(), "inner": inner, "layout": layout, "absent": absent,
        "counted": counted, "notes": notes,
    })
}

/// The runs in the schema of hyperfine 1.20; the control's are left out.
pub(crate) fn hyperfine(commands: &[Command], metrics: &[Metric], rounds: &[Round]) -> Value {
    let result = |(place, command): (usize, &Command)| {
        let all = |metric| column(metrics, rounds, place, metric);
        let seconds = |metric| all(metric).iter().map(|time| time / 1e6).collect::<Vec<_>>();
        let times = seconds(Metric::Wall);
        let mean = |values: &[f64]| summarize(values).map(|summary| summary.mean);
        let summary = summarize(&times);
        let part_of = |part: fn(&Summary) -> f64| summary.as_ref().map(part);
        let mut result = json!({
            "command": command.name,
            "mean": part_of(|summary| summary.mean),
            "stddev": summary.as_ref().and_then(|summary| summary.sd),
            "median": part_of(|summary| summary.median),
            "user": mean(&seconds(Metric::User)),
            "system": mean(&seconds(Metric::System)),
            "min": part_of(|summary| summary.min),
            "max": part_of(|summary| summary.max),
            "times": times,
            "memory_usage_byte": all(Metric::Rss).iter().map(|rss| *rss as u64).collect::<Vec<_>>(),
            "exit_codes": statuses(rounds, place),
        });
        if !command.parameters.is_empty() {
            result["parameters"] = json!(command.parameters);
        }
        result
    };
    json!({ "results": commands.iter().enumerate().map(result).collect::<Vec<_>>() })
}

/// A row for each command, then the tables of the metrics, one a candidate.
pub(crate) fn markdown(
    state: &State,
    commands: &[Command],
    metrics: &[Metric],
    rounds: &[Round],
    tables: &[Vec<MetricRow>],
    level: &str,
) -> String {
    let cell = |name: &str| plain::code(name).replace('|', "\\|");
    let mut page = format!(
        "| Command | Median [ms] | typical {} against the first ({level}) | Verdict |\n\
         |:---|---:|---:|:---|\n",
        metrics[0].label()
    );
    for (place, command) in commands.iter().enumerate() {
        let times = column(metrics, rounds, place, Metric::Wall);
        let median = summarize(&times)
            .map_or("-".to_owned(), |summary| format!("{:.2}", summary.median / 1_000.0));
        let candidate = place.checked_sub(1).map(|place| &state.candidates[place]);
        // As the table below has it, of a few rounds too.
        let own = place.checked_sub(1).and_then(|place| tables[place].first());
        let against = own.map_or("-", |row| &row.difference);
        let verdict = candidate.map_or("reference".to_owned(), |found| found.verdict.to_string());
        let name = cell(&command.name);
        let _ = writeln!(page, "| {name} | {median} | {against} | {verdict} |");
    }
    for (rows, command) in tables.iter().zip(&commands[1..]) {
        let names = [&commands[0].name, &command.name].map(|name| cell(name));
        let [reference, candidate] = names;
        let _ = writeln!(
            page,
            "\n| Median | {reference} | {candidate} | Typical difference ({level}) |\n\
             |:---|---:|---:|---:|"
        );
        for MetricRow { metric, medians: [a, b], difference } in rows {
            let _ = writeln!(page, "| {metric} | {a} | {b} | {difference} |");
        }
    }
    page
}

/// One metric of one command in the rounds that held it, in their order: microseconds, bytes or a
/// count.
pub(crate) fn column(
    metrics: &[Metric],
    rounds: &[Round],
    command: usize,
    metric: Metric,
) -> Vec<f64> {
    let Some(place) = metrics.iter().position(|other| *other == metric) else { return Vec::new() };
    rounds.iter().filter_map(|round| round.runs[command].get(place)).copied().collect()
}

/// How one command's runs ended, in the rounds' order.
fn statuses(rounds: &[Round], command: usize) -> Vec<i32> {
    let held = rounds.iter().filter(|round| !round.runs[command].is_empty());
    held.map(|round| round.statuses[command]).collect()
}
