//! What else the machine did during the runs.

use std::collections::BTreeMap;

use lab_family::Unit::{self, Share};
use lab_record::{Noise, Run};
use lab_stats::describe::{Summary, summarize};

use crate::chapter::Column::{Count, Number, Text};
use crate::frame::is_gated;
use crate::page::Page;
use crate::study::Study;
use crate::tables::{Table, several, show};

/// A reading of a run's noise.
type Reading = fn(&Noise) -> Option<u64>;

/// (title, reading, of all CPUs): times, each shown as a share of the time that the run had.
const READINGS: [(&str, Reading, bool); 4] = [
    ("steal", |noise| noise.steal_ns, true),
    ("CPU of other processes", |noise| noise.outside_cpu_ns, true),
    ("CPU pressure (PSI)", |noise| noise.pressure_cpu_ns, false),
    ("variant runnable, not running", |noise| noise.run_queue_ns, false),
];

/// The kernel's counters have this resolution, for each CPU.
const TICK_NS: f64 = 10e6;
/// A share is shown where the counters can be wrong by at most this.
const ERROR_AT_MOST: f64 = 0.05;

pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    let gated = study.rows.iter().filter(|row| is_gated(&row.run));
    for cause in gated.clone().flat_map(|row| &row.run.gated) {
        // Without its share, so that equal causes are counted together.
        let name = cause.split(|c: char| c.is_ascii_digit()).next().unwrap_or(cause).trim();
        *causes.entry(name).or_default() += 1;
    }
    let named: Vec<String> = causes.iter().map(|(cause, runs)| format!("{cause} {runs}")).collect();
    let why = if named.is_empty() { String::new() } else { format!(" ({})", named.join("; ")) };
    let gated = several(gated.count(), "run");
    page.item(&format!("Noise gate: {gated} disturbed from outside{why}."));
    let ungated = study.all.iter().filter(|one| one.row.run.noise.ungated.is_some()).count();
    if ungated > 0 {
        page.item(&format!("Ungated: {ungated} analysed runs; each record says why."));
    }
    let table = shares(study);
    if !table.is_empty() {
        page.item(&of_most_runs(study));
        page.data("noise", &table);
    }
    page.markdown.push('\n');
}

/// "steal 0.00 %" for each reading.
fn of_most_runs(study: &Study) -> String {
    let one = |(title, of): (&str, Summary)| format!("{title} {}", show(of.p95, Unit::Share));
    let shown: Vec<String> = summaries(study).into_iter().map(one).collect();
    let load = load_at_start(study).map_or(String::new(), |load| format!("; {load}"));
    format!("Noise, P95: {}{load}; `noise.tsv`.", shown.join(", "))
}

/// The load average when each session began: what was going on before the lab did anything.
fn load_at_start(study: &Study) -> Option<String> {
    let loads = study.frame.sessions.iter().filter_map(|session| {
        session.environment.get("load_1min_at_start").and_then(serde_json::Value::as_f64)
    });
    let mut shown: Vec<String> = loads.map(|load| format!("{load:.2}")).collect();
    shown.dedup();
    (!shown.is_empty()).then(|| format!("load at the start {}", shown.join(", ")))
}

fn summaries(study: &Study) -> Vec<(&'static str, Summary)> {
    let cpus = f64::from(study.cpus());
    let summarized = |(title, read, of_all_cpus): (&'static str, Reading, bool)| {
        let runs = study.all.iter().map(|one| &one.row.run);
        let shares = runs.filter_map(|run| share(run, read, of_all_cpus.then_some(cpus)));
        Some((title, summarize(&shares.collect::<Vec<_>>())?))
    };
    READINGS.into_iter().filter_map(summarized).collect()
}

fn shares(study: &Study) -> Table {
    Table::over(
        summaries(study),
        &[
            Text("", "reading", &|(title, _)| title),
            Count("", "runs", &|(_, of)| of.n),
            Number("", "median", Share, &|(_, of)| Some(of.median)),
            Number("", "p95", Share, &|(_, of)| Some(of.p95)),
            Number("", "max", Share, &|(_, of)| Some(of.max)),
        ],
    )
}

/// A reading as a share of what the run had: of the CPU time of all CPUs, or of its own time. None
/// where the run is too short for the kernel's counters. Records from before the machine's capacity
/// was stored have it computed here.
fn share(run: &Run, read: Reading, cpus: Option<f64>) -> Option<f64> {
    let value = read(&run.noise)? as f64;
    let process_ns = run.process_ns as f64;
    let Some(cpus) = cpus else { return (process_ns > 0.0).then(|| value / process_ns) };
    let capacity = run.noise.capacity_ns.map_or(cpus * process_ns, |ns| ns as f64);
    let error = run.noise.resolution_ns.map_or(cpus * TICK_NS, |ns| ns as f64);
    // What the counters can be wrong by cannot make a share of more than there is.
    (error <= ERROR_AT_MOST * capacity).then(|| (value / capacity).min(1.0))
}
