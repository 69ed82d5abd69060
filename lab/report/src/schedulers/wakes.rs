//! Section 2: how long a task that shares the runtime with the work waits to be woken.

use super::bars::ratio;
use super::grid::read;
use super::trials::{INLINE, OFFLOAD, OURS, PUBLISHED, Trials};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, or_not_measured};
use crate::tables::{Cell, Table};

/// The published load.
pub(super) const LOAD: &str = "block_3ms";
pub(super) const IDLE: &str = "idle";

const METRICS: [(&str, &str); 8] = [
    ("P50", "tick_p50_ns"),
    ("P95", "tick_p95_ns"),
    ("P99", "tick_p99_ns"),
    ("P99.9", "tick_p999_ns"),
    ("max", "tick_max_ns"),
    ("job P99", "job_p99_ns"),
    ("jobs/s", "jobs_per_s"),
    ("offloaded", "offload_share"),
];

/// On one Tokio worker: (policy, load, P50/P95/P99 in µs, and jobs).
const SAID: [(&str, &str, &str); 4] = [
    ("", IDLE, "981 / 1,981 / 1,983 µs"),
    (INLINE, LOAD, "2,920 / 2,924 / 2,934 µs; 331/s"),
    (OFFLOAD, LOAD, "962 / 1,683 / 1,869 µs; 697/s"),
    (PUBLISHED, LOAD, "963 / 1,681 / 1,868 µs; 686/s"),
];

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("2. How late a task wakes");
    page.paragraph(
        "Published: a probe that sleeps 100 µs on a timer with ticks of 1 ms, so that its \
         \"baseline\" is the timer and load \"improves\" it. Here the kernel's own expiry is the \
         intended instant, and a tick's latency runs from there until the task on the runtime has \
         read it. Percentiles within a run, then the median over blocks; a maximum has no interval \
         that means anything. With one Tokio worker the published policy inlines nothing above \
         50 µs by its guardrail GR0, so more workers say more about it.",
    );
    let loads: Vec<&str> = [IDLE, LOAD].into_iter().filter(|l| at(trials, l)).collect();
    if loads.is_empty() {
        page.paragraph("No run of this sweep measured it: neither `idle` nor `block_3ms` ran.");
        return;
    }
    let (wide, long) = tables(trials, &loads);
    page.markdown.push_str(&format!("{}\n", wide.markdown()));
    page.data("wake", &long);
    page.paragraph(&reading(trials));
}

fn at(trials: &Trials, load: &str) -> bool {
    trials.ran("wake", &[("load", load)])
}

fn tables(trials: &Trials, loads: &[&str]) -> (Table, Table) {
    let mut columns = vec![
        ("load", "load"),
        ("Tokio workers", "tokio_workers"),
        ("policy", "policy"),
        ("published P50 / P95 / P99", "published"),
    ];
    columns.extend(METRICS);
    let mut wide = Table::new(&columns);
    let mut long = Table::new(
        &["load", "tokio_workers", "policy", "metric", "n", "value", "low", "high"]
            .map(|key| (key, key)),
    );
    for load in loads {
        for workers in trials.combinations("wake", &[("load", load)], &["tokio_workers"]).concat() {
            let levels = [("load", *load), ("tokio_workers", workers.as_str())];
            for policy in trials.with("wake", &levels, "tick_p50_ns") {
                let mut row = vec![Cell::text(*load), Cell::text(&workers), Cell::code(policy)];
                row.push(Cell::text(said(policy, load, &workers)));
                for (_, metric) in METRICS {
                    let reading = read(trials, policy, "wake", &levels, metric);
                    row.push(reading.map_or(Cell::Missing, |one| shown(metric, &one)));
                    let Some(reading) = reading else { continue };
                    let mut values: Vec<Cell> =
                        [load, workers.as_str(), policy, metric].map(Cell::text).into();
                    values.push(Cell::count(reading.n));
                    values.extend(Reading::cells(Some(&reading)));
                    long.row(values);
                }
                wide.row(row);
            }
        }
    }
    (wide, long)
}

fn said(policy: &str, load: &str, workers: &str) -> &'static str {
    let same = |(who, what, _): &&(&str, &str, &str)| {
        workers == "1" && *what == load && (*who == policy || (who.is_empty() && policy == INLINE))
    };
    SAID.iter().find(same).map_or("", |(_, _, said)| said)
}

/// The percentile that the bar is about shows its interval.
fn shown(metric: &str, reading: &Reading) -> Cell {
    match metric {
        "tick_p99_ns" => Cell::Text(reading.short()),
        _ => Cell::Value(reading.estimate, reading.unit),
    }
}

/// A policy's tick percentile under the published load over the same without load.
pub(super) fn interference(trials: &Trials, policy: &str, workers: &str) -> Option<Reading> {
    let series = |policy, load| {
        let levels = [("load", load), ("tokio_workers", workers)];
        trials.series(policy, "wake", &levels, "tick_p95_ns")
    };
    let own = series(policy, IDLE);
    let idle = if own.is_empty() { series(INLINE, IDLE) } else { own };
    Reading::ratio(&series(policy, LOAD), &idle)
}

fn reading(trials: &Trials) -> String {
    let counts = trials.combinations("wake", &[("load", LOAD)], &["tokio_workers"]).concat();
    let each = counts.iter().map(|workers| {
        let levels = [("load", LOAD), ("tokio_workers", workers.as_str())];
        let p99 = |a, b| ratio(trials, (a, b), "wake", &levels, "tick_p99_ns");
        let said = |reading: Option<Reading>| or_not_measured(reading.as_ref());
        format!(
            "with {workers} Tokio worker(s) the P99 of ticks over `{OFFLOAD}`'s is {} for \
             `{OURS}`, {} for `{PUBLISHED}` and {} for `{INLINE}`",
            said(p99(OURS, OFFLOAD)),
            said(p99(PUBLISHED, OFFLOAD)),
            said(p99(INLINE, OFFLOAD)),
        )
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() {
        return "**Reading.** Nothing ran under blocking work.".to_owned();
    }
    format!("**Reading.** Under {LOAD}, {}.", each.join("; "))
}

/// The budget of stalls: the longest that one piece of work kept a worker, and the tail of ticks.
pub(super) fn stalls(trials: &Trials, page: &mut Page) {
    page.heading("Tail stalls");
    let mut table = Table::new(&[
        ("load", "load"),
        ("Tokio workers", "tokio_workers"),
        ("policy", "policy"),
        ("n", "n"),
        ("longest block, median", "block_longest_median_ns"),
        ("longest block of all runs", "block_longest_worst_ns"),
        ("tick P99.9", "tick_p999_ns"),
        ("low", "tick_p999_low_ns"),
        ("high", "tick_p999_high_ns"),
        ("worst tick", "tick_worst_ns"),
    ]);
    for place in trials.combinations("wake", &[], &["load", "tokio_workers"]) {
        let [load, workers] = place.as_slice() else { continue };
        let levels = [("load", load.as_str()), ("tokio_workers", workers.as_str())];
        for policy in trials.with("wake", &levels, "tick_p999_ns") {
            let block = trials.series(policy, "wake", &levels, "block_longest_ns");
            let worst_block = block.values().copied().reduce(f64::max);
            let ticks = trials.series(policy, "wake", &levels, "tick_max_ns");
            let tail = read(trials, policy, "wake", &levels, "tick_p999_ns");
            let mut row = vec![Cell::text(load), Cell::text(workers), Cell::code(policy)];
            row.push(Cell::count(ticks.len()));
            let middle = Reading::level(&block, Unit::Ns).map(|reading| reading.estimate);
            row.extend([Cell::value(middle, Unit::Ns), Cell::value(worst_block, Unit::Ns)]);
            row.extend(Reading::cells(tail.as_ref()));
            row.push(Cell::value(ticks.values().copied().reduce(f64::max), Unit::Ns));
            table.row(row);
        }
    }
    if table.is_empty() {
        page.paragraph("No run of this sweep has ticks.");
        return;
    }
    page.paragraph(
        "How long the runtime was not there for its tasks: the longest that one piece of work \
         kept an asynchronous worker, and how late the tail of ticks was. Maxima grow with the \
         length of a run and carry no interval.",
    );
    page.folded("stalls", "Stalls of every policy under every load", &table);
    page.figure_by(
        ("stalls", "offload-stalls.gp"),
        "Tail of wake-ups (P99.9, interval over blocks) and the longest block of a worker, by load",
        &super::note(trials),
    );
}
