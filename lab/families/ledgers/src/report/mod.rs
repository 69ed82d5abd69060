//! The chapters of the `ledgers` family: how time follows the number of workers.

mod best;
mod curve;
mod factors;
mod facts;
mod recommend;
mod scalability;
mod workers;

use lab_family::Cell;
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::views::{Rows, metrics_by_cell, over_variant};

pub(crate) use facts::{busy_work, run_facts};
use workers::factors_of;

/// What the workers did, beside the time that it took.
const COUNTERS: [&str; 6] = [
    "cores_used",
    "switches_per_1000",
    "tokio_parks_per_1000",
    "lock_waits_per_1000",
    "lock_wait_share",
    "perf_cache_misses_per_transaction",
];

pub(crate) fn chapters(study: &Study, page: &mut Page) {
    let choices = best::choose(study);
    curve::write(study, page);
    best::write(study, &choices, page);
    recommend::write(study, &choices, page);
    stores(study, page);
    scalability::write(study, page);
    factors::write(study, page);
    counters(study, page);
}

/// Every variant over the reference, wherever both ran.
fn stores(study: &Study, page: &mut Page) {
    let (candidates, factors) = (study.candidates(), factors_of(study.family));
    let rows = Rows { variants: &candidates, keep: &|_| true, factors: &factors };
    let table = over_variant(study, &rows, study.reference(), &["elapsed_ns"]);
    if !table.is_empty() {
        page.data("stores", &table);
        page.paragraph(&format!(
            "Every store's time over that of `{}` in the same cell and block: `stores.tsv`.",
            study.reference()
        ));
    }
}

/// Counters in the default cell at every number of workers, and where locks were watched.
fn counters(study: &Study, page: &mut Page) {
    let keep = |cell: &Cell| {
        let is_watched = cell.get("locks").is_some_and(|level| level == "watched");
        is_watched || study.is_default_but(cell, &["workers"])
    };
    let rows = Rows {
        variants: &study.variants(),
        keep: &keep,
        factors: &["contention", "transactions", "workers", "locks"],
    };
    let table = metrics_by_cell(study, &rows, &COUNTERS);
    if !table.is_empty() {
        page.heading("What the workers did");
        page.paragraph(
            "Medians over blocks with their intervals. Waiting for locks was timed only where \
             `locks` is `watched`, in runs of their own; where a column is empty the runtime or \
             the kernel did not count.",
        );
        page.folded("counters", "Switches, parks, waits and misses", &table);
    }
}
