//! What else the machine did during the runs.

use std::collections::BTreeMap;

use lab_record::Noise;
use lab_stats::describe::summarize;

use crate::frame::is_gated;
use crate::measure::Unit;
use crate::page::Page;
use crate::study::Study;
use crate::tables::{Cell, Table};

/// A reading of a run's noise.
type Reading = fn(&Noise) -> Option<u64>;

/// (title, reading): times, each shown as a share of the run's process time.
const READINGS: [(&str, Reading); 4] = [
    ("steal", |noise| noise.steal_ns),
    ("CPU of other processes", |noise| noise.outside_cpu_ns),
    ("some task waited for a CPU (PSI)", |noise| noise.pressure_cpu_ns),
    ("variant runnable, not running", |noise| noise.run_queue_ns),
];

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
    page.item(&format!("Noise gate: {} runs disturbed from outside{why}.", gated.count()));
    page.markdown.push('\n');
    let table = shares(study);
    if !table.is_empty() {
        page.folded("noise", "Noise during the analysed runs, as shares of their time", &table);
    }
}

fn shares(study: &Study) -> Table {
    let mut table = Table::new(&[
        ("reading", "reading"),
        ("runs", "runs"),
        ("median", "median"),
        ("P95", "p95"),
        ("max", "max"),
    ]);
    for (title, read) in READINGS {
        let of_run = |noise: &Noise, process_ns: u64| {
            let share = read(noise)? as f64 / process_ns as f64;
            share.is_finite().then_some(share)
        };
        let runs = study.all.iter().map(|one| &one.row.run);
        let values: Vec<f64> = runs.filter_map(|run| of_run(&run.noise, run.process_ns)).collect();
        let Some(summary) = summarize(&values) else { continue };
        let share = |value: f64| Cell::value(Some(value), Unit::Share);
        table.row(vec![
            Cell::text(title),
            Cell::count(summary.n),
            share(summary.median),
            share(summary.p95),
            share(summary.max),
        ]);
    }
    table
}
