//! The five published tiers redone: their medians beside ours, tails, and what two restarts say.

use super::measure::MAKESPAN;
use super::published::SCENARIOS;
use super::sweep::{Cell as Levels, Sweep};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table, show_percent};
use lab_stats::describe::summarize;

/// The published report calls a change from one run to the next up to this "stable" (its own 2.8 %
/// is, its 4.5 % is not) and a larger one "sensitive".
pub(super) const STABLE: f64 = 0.03;

/// The medians of the first two restarts, as the published report has them.
pub(super) fn first_two(series: &Series) -> Option<[f64; 2]> {
    let mut values = series.values();
    Some([*values.next()?, *values.next()?])
}

/// Of all pairs of restarts the share that changes by more than [`STABLE`], an earlier against a
/// later one; `None` of fewer than two.
pub(super) fn sensitive_pairs(series: &Series) -> Option<f64> {
    let values: Vec<f64> = series.values().copied().collect();
    let mut changes = Vec::new();
    for (position, first) in values.iter().enumerate() {
        changes.extend(values[position + 1..].iter().map(|second| (second / first - 1.0).abs()));
    }
    let beyond = changes.iter().filter(|change| **change > STABLE).count();
    (!changes.is_empty()).then(|| beyond as f64 / changes.len() as f64)
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("The five tiers redone");
    page.paragraph(
        "Published medians (milliseconds, as printed; 12 cores, another system, a client that \
         looks every 50 ms) beside the median makespan here, told of completion. Every run starts \
         its back end anew, so blocks are restarts: restarts 1 and 2 are the pair that the \
         published report would have had, the median and its interval are over all. P95 over P50 \
         is within a run, median over restarts; the published one is of its second run. The \
         published cluster tier has two orchestrators; here it is the same back end, with one task \
         or two in flight.",
    );
    let mut table = Table::new(&[
        ("tier", "tier"),
        ("scenario", "scenario"),
        ("published 1", "published_1_ns"),
        ("published 2", "published_2_ns"),
        ("published P95/P50", "published_tail"),
        ("here", "variant"),
        ("restart 1", "restart_1_ns"),
        ("restart 2", "restart_2_ns"),
        ("P50", "p50_ns"),
        ("low", "p50_low_ns"),
        ("high", "p50_high_ns"),
        ("P95", "p95_ns"),
        ("P95/P50", "tail"),
        ("n", "n"),
    ]);
    for scenario in &SCENARIOS {
        let ns = |ms: f64| Cell::Value((ms * 1e6).round(), Unit::Ns);
        let [one, two] = scenario.runs_ms;
        let published = [
            Cell::text(scenario.tier),
            Cell::text(scenario.name),
            ns(one),
            ns(two),
            Cell::value(scenario.tail, Unit::Count),
        ];
        let mut ours = Vec::new();
        let here = scenario.here;
        for worker in here.workers {
            let levels = [("shape", here.shape), ("in_flight", here.in_flight), ("worker", worker)];
            let cell = sweep.cell(&[&levels[..], &[("poll_ms", "0")]].concat());
            ours.extend(sweep.variants().into_iter().filter_map(|variant| {
                let label = if *worker == "native" {
                    variant.to_owned()
                } else {
                    format!("{variant}, {worker}")
                };
                measured(sweep, (variant, &label), &cell)
            }));
        }
        if ours.is_empty() {
            let mut none = vec![Cell::Missing; 9];
            none[0] = Cell::text("not measured");
            ours.push(none);
        }
        ours.into_iter().for_each(|ours| table.row([&published[..], &ours].concat()));
    }
    page.table("tiers", &table);
    restarts(sweep, page);
}

fn measured(sweep: &Sweep, (variant, label): (&str, &str), cell: &Levels) -> Option<Vec<Cell>> {
    let series = sweep.series(variant, cell, MAKESPAN);
    let level = Reading::level(&series, Unit::Ns)?;
    let two = first_two(&series);
    let restart = |place: usize| Cell::value(two.map(|two| two[place]), Unit::Ns);
    let tail = sweep.ratio((variant, cell, "makespan_p95_ns"), (variant, cell, MAKESPAN));
    let p95 = sweep.level(variant, cell, "makespan_p95_ns");
    let mut row = vec![Cell::code(label), restart(0), restart(1)];
    row.extend(Reading::cells(Some(&level)));
    row.extend([
        Cell::value(p95.map(|p95| p95.estimate), Unit::Ns),
        Cell::value(tail.map(|tail| tail.estimate), Unit::Count),
        Cell::count(level.n),
    ]);
    Some(row)
}

/// How much a restart changes the median, per back end and cell, however the client learns of it.
fn restarts(sweep: &Sweep, page: &mut Page) {
    page.heading("From restart to restart");
    page.paragraph(&format!(
        "The spread of a run's median over restarts. \"Two runs\" is the change from the first \
         restart to the second and what the published report would have called it: stable up to \
         {}, sensitive beyond. The last column is the share of all pairs of restarts that would \
         have been called sensitive: near 0 % or 100 %, two runs are enough to say so; in between, \
         what is concluded depends on which two were run.",
        show_percent(STABLE).trim_start_matches('+')
    ));
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("cell", "cell"),
        ("n", "n"),
        ("median", "median_ns"),
        ("least", "min_ns"),
        ("most", "max_ns"),
        ("coefficient of variation", "cv_share"),
        ("two runs", "two_runs_share"),
        ("two runs say", "two_runs_say"),
        ("sensitive pairs", "sensitive_pairs_share"),
    ]);
    for variant in sweep.study.measured_variants() {
        for cell in sweep.cells(variant) {
            let series = sweep.series(variant, cell, MAKESPAN);
            let Some(summary) = summarize(&series.values().copied().collect::<Vec<_>>()) else {
                continue;
            };
            let change = first_two(&series).map(|[first, second]| second / first - 1.0);
            table.row(vec![
                Cell::code(variant),
                Cell::text(sweep.label(cell)),
                Cell::count(summary.n),
                Cell::Value(summary.median, Unit::Ns),
                Cell::Value(summary.min, Unit::Ns),
                Cell::Value(summary.max, Unit::Ns),
                Cell::value(summary.cv, Unit::Share),
                Cell::value(change, Unit::Share),
                change.map_or(Cell::Missing, |change| Cell::text(called(change))),
                Cell::value(sensitive_pairs(&series), Unit::Share),
            ]);
        }
    }
    page.table("restarts", &table);
}

/// The published report's word for a change.
fn called(change: f64) -> &'static str {
    if change.abs() <= STABLE { "stable" } else { "sensitive" }
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
        assert_eq!(first_two(&series(&[3.0, 4.0, 9.0])), Some([3.0, 4.0]));
    }

    #[test]
    fn the_published_runs_are_called_as_published() {
        let said = [
            ("linear", "stable"),
            ("diamond", "sensitive"),
            ("hierarchical_tree", "sensitive"),
            ("csv_products_1000_rows", "stable"),
            ("concurrent_tasks_2x", "sensitive"),
        ];
        for (name, word) in said {
            let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name).unwrap();
            let [one, two] = scenario.runs_ms;
            assert_eq!(called(two / one - 1.0), word, "{name}");
        }
    }
}
