//! What was run, what is missing, and whether the lab itself was working, for this family.

use std::collections::BTreeSet;

use lab_record::Status;

use super::sweep::{FACTORS, NEWLINE_SCAN, Sweep};
use crate::measure::Unit;
use crate::noise;
use crate::page::Page;
use crate::tables::{Cell, Table};
use crate::working;

/// The whole field: who is not there is named.
const ENGINES: [&str; 9] = [
    "sequential",
    "rayon",
    "tokio",
    "tokio_async",
    "smol",
    "smol_multi",
    "smolscale",
    "threads",
    "io_uring",
];
const PEERS: [&str; 6] = ["ripgrep", "grep", "ugrep", "jq", "duckdb", NEWLINE_SCAN];

pub(super) fn header(sweep: &Sweep, page: &mut Page) {
    page.heading("What was run");
    working::identity(&sweep.study, page);
    page.item(&working::counted(&sweep.study));
    page.item(
        "A run is one whole process, timed by hyperfine (one run, no shell, no warm-up), and \
         gives one value per metric. A round is a block: every cell once, in random order. n \
         counts rounds, or (cell × round) pairs where the text says so; intervals are at 95 % or \
         more.",
    );
    page.items(working::smoke_test(&sweep.study, "it says less, fewer cells or rounds ran."));
    page.items(working::without_a_run(&sweep.study));
    page.items(not_in_sweep(sweep));
    page.items(without_hyperfine(sweep));
    page.markdown.push('\n');
    corpora(sweep, page);
    working::unsupported(&sweep.study, "a program cannot do or is not there for", page);
    working::inventory(&sweep.study, page);
    rows_per_cell(sweep, page);
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Was the lab itself working?");
    working::first_aa(&sweep.study, page);
    page.item(&working::verified(&sweep.study));
    page.item(
        "An engine's run is verified where its reported lines and its counts are the floor's; a \
         peer's count stands beside the floor's and is no ground to refuse it.",
    );
    page.item(&working::cores(&sweep.study));
    working::failures(&sweep.study, page, |run| run.status == Status::Failed);
    noise::write(&sweep.study, page);
}

fn not_in_sweep(sweep: &Sweep) -> Option<String> {
    let present = sweep.study.frame.variants();
    let field = ENGINES.into_iter().chain(PEERS);
    working::not_in_sweep(field.filter(|name| !present.contains(name)))
}

/// Runs that were not started by hyperfine have no time of the whole process.
fn without_hyperfine(sweep: &Sweep) -> Option<String> {
    let untimed =
        sweep.study.all.iter().filter(|one| one.value(super::measure::WALL).is_none()).count();
    (untimed > 0).then(|| {
        format!(
            "**{untimed} analysed runs have no time by hyperfine**; no table of times holds them."
        )
    })
}

fn corpora(sweep: &Sweep, page: &mut Page) {
    let mut table = Table::new(&[
        ("corpus", "corpus"),
        ("files", "files"),
        ("size", "bytes"),
        ("bytes", "bytes_exact"),
    ]);
    let mut sizes: Vec<_> = sweep.sizes.iter().collect();
    sizes.sort_by(|a, b| a.1.bytes.total_cmp(&b.1.bytes));
    for (corpus, size) in sizes {
        table.row(vec![
            Cell::text(corpus),
            Cell::Value(size.files, Unit::Count),
            Cell::Value(size.bytes, Unit::Bytes),
            Cell::Value(size.bytes, Unit::Count),
        ]);
    }
    if !table.is_empty() {
        page.table("corpora", &table);
    }
}

fn rows_per_cell(sweep: &Sweep, page: &mut Page) {
    let mut columns = vec![("variant", "variant")];
    columns.extend(FACTORS.map(|factor| (factor, factor)));
    columns.extend([("runs", "runs"), ("blocks", "blocks")]);
    let mut table = Table::new(&columns);
    for variant in sweep.study.measured_variants() {
        for cell in sweep.cells(variant) {
            let all = sweep.study.all.iter().filter(|one| one.variant() == variant);
            let here = all.filter(|one| one.row.run.cell == *cell);
            let blocks: Vec<u32> = here.map(|one| one.row.run.block).collect();
            let mut row = vec![Cell::text(variant)];
            row.extend(FACTORS.map(|factor| cell.get(factor).map_or(Cell::Missing, Cell::text)));
            row.push(Cell::count(blocks.len()));
            row.push(Cell::count(blocks.iter().collect::<BTreeSet<_>>().len()));
            table.row(row);
        }
    }
    page.data("rows", &table);
    page.paragraph("Runs and rounds of every program in every cell: `rows.tsv`.");
}
