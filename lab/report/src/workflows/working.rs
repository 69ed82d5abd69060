//! What was run, what is missing, and whether the lab itself was working, for this family.

use std::collections::BTreeMap;

use lab_record::{Run, Status};

use super::bars::{JOURNAL, MEMORY, POSTGRES};
use super::sweep::{FACTORS, SHAPES, Sweep};
use crate::noise;
use crate::page::Page;
use crate::tables::{Cell, Table};
use crate::working;

/// Back ends that the comparison was made for; who is not there is named.
const FIELD: [&str; 7] = [MEMORY, JOURNAL, POSTGRES, "dbos", "dbos_sqlite", "restate", "tasker"];

pub(super) fn header(sweep: &Sweep, page: &mut Page) {
    page.heading("What was run");
    working::identity(&sweep.study, page);
    page.item(&working::counted(&sweep.study));
    page.item(
        "A run starts a back end, puts its tasks through it and stops it, and gives one value per \
         metric: the median over its tasks or steps, which are no independent samples. Blocks are \
         restarts; n counts them, or (cell × block) pairs where the text says so. Intervals are \
         over blocks, at 95 % or more, and there is none below six.",
    );
    page.items(working::smoke_test(
        &sweep.study,
        "a section says that something was not measured, it did not run.",
    ));
    page.items(working::without_a_run(&sweep.study));
    page.items(not_in_sweep(sweep));
    page.items(missing_shapes(sweep));
    page.markdown.push('\n');
    unsupported(sweep, page);
    working::inventory(&sweep.study, page);
    rows(sweep, page);
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Was the lab itself working?");
    working::first_aa(&sweep.study, page);
    page.item(&working::verified(&sweep.study));
    page.item(&working::cores(&sweep.study));
    working::failures(&sweep.study, page, |run| run.status == Status::Failed);
    noise::write(&sweep.study, page);
}

fn not_in_sweep(sweep: &Sweep) -> Option<String> {
    let present = sweep.study.frame.variants();
    let is_there = |name: &str| present.iter().any(|other| other.starts_with(name));
    working::not_in_sweep(FIELD.into_iter().filter(|name| !is_there(name)))
}

fn missing_shapes(sweep: &Sweep) -> Option<String> {
    let ran = sweep.shapes();
    let missing: Vec<&str> =
        SHAPES.into_iter().filter(|shape| !ran.iter().any(|other| other == shape)).collect();
    let text = format!("**Shapes without a run**: {}.", missing.join(", "));
    (!missing.is_empty()).then_some(text)
}

/// Refusals, once each: they are no failures, and no number rests on them.
fn unsupported(sweep: &Sweep, page: &mut Page) {
    let mut refused: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let is_refusal = |run: &&Run| run.status == Status::Unsupported && !run.warmup;
    for run in sweep.study.rows.iter().map(|row| &row.run).filter(is_refusal) {
        let reason = run.reason.as_deref().unwrap_or("no reason was recorded");
        *refused.entry((&run.variant, reason)).or_default() += 1;
    }
    if refused.is_empty() {
        return;
    }
    page.paragraph("What a back end cannot do, as it says itself:");
    let mut table = Table::new(&[("variant", "variant"), ("reason", "reason"), ("runs", "runs")]);
    for ((variant, reason), runs) in refused {
        table.row(vec![Cell::code(variant), Cell::text(reason), Cell::count(runs)]);
    }
    page.table("unsupported", &table);
}

fn rows(sweep: &Sweep, page: &mut Page) {
    let mut columns = vec![("variant", "variant")];
    columns.extend(FACTORS.map(|factor| (factor, factor)));
    columns.push(("runs", "runs"));
    let mut table = Table::new(&columns);
    for variant in sweep.study.measured_variants() {
        for cell in sweep.cells(variant) {
            let mut row = vec![Cell::code(variant)];
            row.extend(FACTORS.map(|factor| cell.get(factor).map_or(Cell::Missing, Cell::text)));
            row.push(Cell::count(sweep.runs(variant, cell).len()));
            table.row(row);
        }
    }
    page.data("rows", &table);
    page.paragraph("Runs of every back end in every cell: `rows.tsv`.");
}
