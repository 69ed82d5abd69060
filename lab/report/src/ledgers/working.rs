//! What was run, and whether the lab itself was working, for this family.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::{Run, Status};
use lab_stats::describe::median;

use super::slim::{REPETITIONS, repetitions};
use super::sweep::{FACTORS, Sweep, level_rank};
use crate::measure::Unit;
use crate::noise;
use crate::page::Page;
use crate::tables::{Cell, Table};
use crate::working;

pub(super) fn header(sweep: &Sweep, page: &mut Page) {
    page.heading("What was run");
    working::identity(&sweep.study, page);
    page.item(&working::counted(&sweep.study));
    page.item(
        "A run repeats its work and gives one value per metric, from the medians over its \
         repetitions: repetitions of one process are no independent samples. n counts blocks, or \
         (cell × block) pairs where the text says so; intervals are over blocks, at 95 % or more.",
    );
    if sweep.divide_by > 1 {
        page.item(&format!(
            "**Smoke test**: transactions and busy work are divided by {}, so its times say that \
             the sweep works and nothing else.",
            sweep.divide_by
        ));
    }
    page.items(slimmed(sweep));
    page.items(working::without_a_run(&sweep.study));
    page.markdown.push('\n');
    unsupported(sweep, page);
    working::inventory(&sweep.study, page);
    rows_per_cell(sweep, page);
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Was the lab itself working?");
    working::first_aa(&sweep.study, page);
    page.item(&working::verified(&sweep.study));
    page.item(&working::cores(&sweep.study));
    page.items(busy_work(sweep));
    working::failures(&sweep.study, page, |run| run.status == Status::Failed);
    noise::write(&sweep.study, page);
}

fn slimmed(sweep: &Sweep) -> Option<String> {
    let kept = |name: &str| {
        let runs = sweep.study.all.iter();
        runs.filter(|one| one.row.samples.columns.contains_key(name)).count()
    };
    let count = kept(REPETITIONS);
    (count > 0).then(|| {
        format!(
            "Samples: of {count} runs the middle repetitions alone are kept (of each column the \
             one or two values that its median is made of), which is all that a number here rests \
             on."
        )
    })
}

/// Refusals, once each: they are no failures, and no number rests on them.
fn unsupported(sweep: &Sweep, page: &mut Page) {
    let mut refused: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    for run in sweep.study.rows.iter().map(|row| &row.run) {
        if run.status == Status::Unsupported && !run.warmup {
            let reason = run.reason.as_deref().unwrap_or("no reason was recorded");
            refused.entry((&run.variant, reason)).or_default().push(run);
        }
    }
    if refused.is_empty() {
        return;
    }
    page.paragraph("What a variant cannot do, as it says itself:");
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("level", "level"),
        ("reason", "reason"),
        ("runs", "runs"),
    ]);
    for ((variant, reason), runs) in refused {
        table.row(vec![
            Cell::code(variant),
            Cell::text(refused_levels(sweep, variant, &runs)),
            Cell::text(reason),
            Cell::count(runs.len()),
        ]);
    }
    page.table("unsupported", &table);
}

/// The levels that all refused runs share and no finished run of the variant has.
fn refused_levels(sweep: &Sweep, variant: &str, runs: &[&Run]) -> String {
    let levels_of = |factor: &str| -> BTreeSet<&str> {
        runs.iter().filter_map(|run| run.cell.get(factor).map(String::as_str)).collect()
    };
    let done = sweep.cells(variant);
    let explains = |factor: &&str| {
        let refused = levels_of(factor);
        let used = |level: &&str| done.iter().any(|c| c.get(*factor).is_some_and(|l| l == level));
        !refused.is_empty() && !refused.iter().any(used)
    };
    let named = FACTORS.iter().copied().filter(explains).map(|factor| {
        let mut levels: Vec<&str> = levels_of(factor).into_iter().collect();
        levels.sort_by_cached_key(|level| level_rank(level));
        format!("{factor} {}", levels.join(", "))
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { "some cells".to_owned() } else { named.join("; ") }
}

fn rows_per_cell(sweep: &Sweep, page: &mut Page) {
    let mut columns = vec![("variant", "variant")];
    columns.extend(FACTORS.map(|factor| (factor, factor)));
    columns.extend([("runs", "runs"), ("repetitions", "repetitions"), ("blocks", "blocks")]);
    let mut table = Table::new(&columns);
    for variant in sweep.study.measured_variants() {
        for cell in sweep.cells(variant) {
            let here = sweep
                .study
                .all
                .iter()
                .filter(|one| one.variant() == variant && one.row.run.cell == *cell);
            let (mut runs, mut blocks, mut counts) = (0, BTreeSet::new(), Vec::new());
            for one in here {
                runs += 1;
                blocks.insert(one.row.run.block);
                counts.push(repetitions(&one.row.samples) as f64);
            }
            let mut row = vec![Cell::text(variant)];
            row.extend(FACTORS.map(|factor| cell.get(factor).map_or(Cell::Missing, Cell::text)));
            row.push(Cell::count(runs));
            row.push(Cell::value(median(&counts), Unit::Count));
            row.push(Cell::count(blocks.len()));
            table.row(row);
        }
    }
    page.data("rows", &table);
    page.paragraph("Runs, repetitions and blocks of every variant in every cell: `rows.tsv`.");
}

/// What a transaction's busy work really took, beside what was asked for.
fn busy_work(sweep: &Sweep) -> Option<String> {
    let mut measured: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for run in sweep.study.all.iter().map(|one| &one.row.run) {
        let asked = run.cell.get("work_ns").and_then(|level| level.parse::<u64>().ok());
        let took = run.counters.get("work_measured_ps").map(|&ps| ps as f64 / 1e3);
        if let (Some(asked), Some(took)) = (asked.filter(|ns| *ns > 0), took) {
            measured.entry(asked).or_default().push(took);
        }
    }
    let shown = measured.iter().filter_map(|(asked, took)| {
        let took = crate::tables::show(median(took)?, Unit::Ns);
        Some(format!("{asked} ns took {took}"))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| {
        format!("Busy work, asked for and measured on an idle thread: {}.", shown.join("; "))
    })
}
