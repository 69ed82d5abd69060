//! What was run, what is missing, and whether the lab itself was working, for this family.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::Status;
use lab_stats::describe::median;

use super::trials::{FACTORS, FIELD, Trials};
use crate::measure::Unit;
use crate::noise;
use crate::page::Page;
use crate::tables::{Cell, Table, show};
use crate::working;

pub(super) fn header(trials: &Trials, page: &mut Page) {
    page.heading("What was run");
    working::identity(&trials.study, page);
    page.item(&working::counted(&trials.study));
    page.item(
        "A run is one process that does one test of one policy, and gives one value per metric: \
         batches, steps, repetitions and ticks of a process are no independent samples. n counts \
         blocks, or (cell × block) pairs where the text says so; intervals are over blocks, at \
         95 % or more, and there is none below six.",
    );
    page.items(working::smoke_test(
        &trials.study,
        "a section says that something was not measured, it did not run.",
    ));
    page.items(working::without_a_run(&trials.study));
    page.items(not_in_sweep(trials));
    page.items(work_durations(trials));
    page.items(round_trips(trials));
    page.markdown.push('\n');
    working::unsupported(&trials.study, "a policy cannot do", page);
    working::inventory(&trials.study, page);
    rows_per_cell(trials, page);
}

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("Was the lab itself working?");
    working::first_aa(&trials.study, page);
    page.item(&working::verified(&trials.study));
    page.item(&working::cores(&trials.study));
    page.items(oracle_regret(trials));
    working::failures(&trials.study, page, |run| run.status == Status::Failed);
    noise::write(&trials.study, page);
}

fn not_in_sweep(trials: &Trials) -> Option<String> {
    let present = trials.study.frame.variants();
    working::not_in_sweep(FIELD.into_iter().filter(|name| !present.contains(name)))
}

/// A known answer: who knows the true cost regrets nothing.
fn oracle_regret(trials: &Trials) -> Option<String> {
    let oracle = trials.study.all.iter().filter(|one| one.variant() == super::trials::ORACLE);
    let regrets: Vec<f64> = oracle.filter_map(|one| one.value("regret_ns")).collect();
    let most = regrets.iter().copied().reduce(f64::max)?;
    Some(match most {
        0.0 => format!("Known answer: the oracle's regret is 0 in all {} replays.", regrets.len()),
        most => format!(
            "**Known answer missed**: the oracle has a regret of up to {}; no regret here is \
             ground for a choice.",
            show(most, Unit::Ns)
        ),
    })
}

/// What calibrated work really took, by what was asked for.
fn work_durations(trials: &Trials) -> Option<String> {
    let mut took: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in trials.study.all.iter().map(|one| &one.row.run) {
        let level = |factor: &str| run.cell.get(factor).cloned().unwrap_or_default();
        let asked = match level("test").as_str() {
            "stream" => level("work"),
            "wake" => level("load"),
            _ => continue,
        };
        if let Some(&ns) = run.counters.get("work_measured_ns").filter(|ns| **ns > 0) {
            took.entry(asked).or_default().push(ns as f64);
        }
    }
    let shown = took.iter().filter_map(|(asked, all)| {
        let least = all.iter().copied().reduce(f64::min)?;
        let most = all.iter().copied().reduce(f64::max)?;
        Some(format!(
            "`{asked}` {} ({} to {})",
            show(median(all)?, Unit::Ns),
            show(least, Unit::Ns),
            show(most, Unit::Ns)
        ))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| {
        format!(
            "Calibrated work of the first class, measured on an idle thread before each test, \
             median and range over runs: {}.",
            shown.join("; ")
        )
    })
}

fn round_trips(trials: &Trials) -> Option<String> {
    let counters = trials.study.all.iter().map(|one| &one.row.run.counters);
    let all: Vec<f64> = counters
        .filter_map(|counters| counters.get("offload_round_trip_ns"))
        .filter(|ns| **ns > 0)
        .map(|&ns| ns as f64)
        .collect();
    Some(format!(
        "An empty round trip through the pool takes {} (median over {} runs).",
        show(median(&all)?, Unit::Ns),
        all.len()
    ))
}

fn rows_per_cell(trials: &Trials, page: &mut Page) {
    let mut columns = vec![("variant", "variant")];
    columns.extend(FACTORS.map(|factor| (factor, factor)));
    columns.extend([("runs", "runs"), ("blocks", "blocks")]);
    let mut table = Table::new(&columns);
    for variant in trials.study.measured_variants() {
        for (cell, blocks) in trials.blocks_by_cell(variant) {
            let mut row = vec![Cell::text(variant)];
            row.extend(FACTORS.map(|factor| cell.get(factor).map_or(Cell::Missing, Cell::text)));
            row.push(Cell::count(blocks.len()));
            row.push(Cell::count(blocks.iter().collect::<BTreeSet<_>>().len()));
            table.row(row);
        }
    }
    page.data("rows", &table);
    page.paragraph("Runs and blocks of every policy in every cell: `rows.tsv`.");
}
