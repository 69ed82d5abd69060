//! The five published tiers redone: their medians beside ours, and how far restarts lie apart.

use std::collections::BTreeSet;

use lab_family::{Cell, Unit};
use lab_report::Column::{Code, Count, Number, Words};
use lab_report::{Entry, Page, Reading, Series, Study, Table, study::with};
use lab_stats::describe::summarize;

use super::default_cell;
use super::published::{SCENARIOS, Scenario};
use crate::workflows::metrics::MAKESPAN;

const PROCESSES: &str = "processes";
const P95: &str = "makespan_p95_ns";
/// The published report calls a change from one run to the next up to this "stable" (its own 2.8 %
/// is, its 4.5 % is not) and a larger one "sensitive".
const STABLE: f64 = 0.03;

pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("tier", "tier"),
        ("scenario", "scenario"),
        ("published", "published_1_ns"),
        ("", "published_2_ns"),
        ("", "published_tail"),
        ("here", "variant"),
        ("worker", "worker"),
        ("", "processes"),
        ("", "workers"),
        ("", "restart_1_ns"),
        ("", "restart_2_ns"),
        ("P50", ""),
        ("", "p50_ns"),
        ("", "p50_low_ns"),
        ("", "p50_high_ns"),
        ("", "p95_ns"),
        ("P95/P50", "tail"),
        ("", "rows_per_s"),
        ("", "tasks_under_way"),
        ("steps at once", "steps_under_way"),
        ("n", "n"),
    ]);
    for scenario in &SCENARIOS {
        for cell in cells(study, scenario) {
            let rows = study.variants().into_iter().filter_map(|name| row(study, name, &cell));
            rows.for_each(|row| table.row([published(scenario), row].concat()));
        }
    }
    if !table.is_empty() {
        page.heading("The five tiers redone");
        page.paragraph(
            "Published medians (another system, 12 cores, 50 ms polling) beside our median \
             makespan with push notification. The cluster tier is of several processes, two tasks \
             at once also of one.",
        );
        page.table("tiers", &table);
    } else {
        page.heading("From restart to restart");
    }
    restarts(study, page);
}

/// The cells that come nearest to a scenario. A cluster is several processes, however many and in
/// whatever languages; what is no other tier's, two tasks at once, is shown in one process, too.
fn cells(study: &Study, scenario: &Scenario) -> Vec<Cell> {
    let cell = with(&default_cell(study, scenario.shape), "in_flight", scenario.in_flight);
    if !scenario.is_cluster() {
        return scenario.workers.iter().map(|worker| with(&cell, "worker", worker)).collect();
    }
    let cell = with(&cell, "worker", "native");
    let is_apart = |found: &&Cell| {
        let is_alike = |factor| found.get(factor) == cell.get(factor);
        found.get(PROCESSES).is_some_and(|level| level != "0")
            && is_alike("shape")
            && is_alike("in_flight")
            && study.is_default_but(found, &["shape", "in_flight", PROCESSES, "workers", "worker"])
    };
    let cells = study.variants().into_iter().flat_map(|variant| study.cells(variant));
    let apart: BTreeSet<&Cell> = cells.filter(is_apart).collect();
    let together = (scenario.in_flight != "1").then(|| cell.clone());
    together.into_iter().chain(apart.into_iter().cloned()).collect()
}

fn published(scenario: &Scenario) -> Vec<Entry> {
    let [one, two] = scenario.runs_ms.map(|ms| Entry::Value((ms * 1e6).round(), Unit::Ns));
    let (tier, name) = (Entry::text(scenario.tier), Entry::text(scenario.name));
    vec![tier, name, one, two, Entry::value(scenario.tail, Unit::Count)]
}

fn row(study: &Study, variant: &str, cell: &Cell) -> Option<Vec<Entry>> {
    let series = study.series(variant, cell, MAKESPAN);
    let level = Reading::level(&series, Unit::Ns)?;
    let tail = Reading::ratio(&study.series(variant, cell, P95), &series);
    let restart = |place: usize| Entry::value(series.values().nth(place).copied(), Unit::Ns);
    let mut row = vec![Entry::code(variant), Entry::text(&cell["worker"])];
    row.push(Entry::text(cell.get(PROCESSES).map_or("0", String::as_str)));
    row.push(Entry::text(cell.get("workers").map_or("", String::as_str)));
    row.extend([restart(0), restart(1)]);
    row.push(Reading::in_short(Some(level)));
    row.extend(Reading::entries(Some(level)));
    row.extend([
        Entry::value(study.median(variant, cell, P95), Unit::Ns),
        Entry::value(tail.map(|tail| tail.estimate), Unit::Count),
        Entry::value(study.median(variant, cell, "rows_per_s"), Unit::PerSecond),
        Entry::value(study.median(variant, cell, "tasks_under_way"), Unit::Count),
        Entry::value(study.median(variant, cell, "steps_under_way"), Unit::Count),
        Entry::count(level.n),
    ]);
    Some(row)
}

/// How much a restart changes the median of a run.
fn restarts(study: &Study, page: &mut Page) {
    let measured = study.measured_variants();
    let spread = study.places(&measured).into_iter().filter_map(|(variant, cell)| {
        let series = study.series(variant, cell, MAKESPAN);
        let summary = summarize(&series.values().copied().collect::<Vec<_>>())?;
        Some((variant, cell, summary, sensitive_pairs(&series)))
    });
    let table = Table::over(
        spread,
        &[
            Code("", "variant", &|(variant, ..)| variant),
            Words("", "cell", &|(_, cell, ..)| study.label(cell)),
            Count("", "n", &|(.., of, _)| of.n),
            Number("", "median_ns", Unit::Ns, &|(.., of, _)| Some(of.median)),
            Number("", "min_ns", Unit::Ns, &|(.., of, _)| Some(of.min)),
            Number("", "max_ns", Unit::Ns, &|(.., of, _)| Some(of.max)),
            Number("", "cv_share", Unit::Share, &|(.., of, _)| of.cv),
            Number("", "sensitive_pairs_share", Unit::Share, &|(.., pairs)| *pairs),
        ],
    );
    let what = format!(
        "Spread of median makespans over restarts, and the share of pairs that differ by more than \
         {} % (published: \"sensitive\")",
        100.0 * STABLE
    );
    page.beside("restarts", &what, &table);
}

/// Of all pairs of restarts the share that changes by more than [`STABLE`], an earlier against a
/// later one; `None` of fewer than two.
fn sensitive_pairs(series: &Series) -> Option<f64> {
    let values: Vec<f64> = series.values().copied().collect();
    let pairs = values.iter().enumerate().flat_map(|(position, first)| {
        values[position + 1..].iter().map(move |second| (second / first - 1.0).abs() > STABLE)
    });
    let beyond: Vec<bool> = pairs.collect();
    let sensitive = beyond.iter().filter(|beyond| **beyond).count();
    (!beyond.is_empty()).then(|| sensitive as f64 / beyond.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        values.iter().enumerate().map(|(block, value)| (block as u32, *value)).collect()
    }

    #[test]
    fn pairs_of_restarts_are_counted() {
        // Of three pairs the two with the third differ.
        assert_eq!(sensitive_pairs(&series(&[100.0, 101.0, 120.0])), Some(2.0 / 3.0));
        assert_eq!(sensitive_pairs(&series(&[100.0, 100.0])), Some(0.0));
        assert_eq!(sensitive_pairs(&series(&[100.0])), None);
    }
}
