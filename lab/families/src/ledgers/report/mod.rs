//! The chapters of the `ledgers` family: how time follows the number of workers.

mod advice;
mod best;
mod curve;
mod factors;
mod facts;
mod recommend;
mod scalability;
mod workers;

use lab_family::Cell;
use lab_record::{Run, RunFile, Samples, VariantEntry, Verification};
use lab_report::{
    Chapter, FamilyReport, Frame, Measured, Page, Row, Rows, Study, metrics_by_cell, over_variant,
};
use toml::Table;

use crate::ledgers::{FACTORS, HARNESS_TAG, Ledgers, metrics, slim};
use workers::factors_of;

impl FamilyReport for Ledgers {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        section: &Table,
        rows: &[&'a Row],
    ) -> Vec<Measured<'a>> {
        let around = metrics::Around {
            divide_by: metrics::divide_by(section),
            cpus: frame.run_file.machine.cpus,
            memory: frame.floor_bytes_per_s("memory"),
        };
        let measured = |row: &&'a Row| Measured::new(row, metrics::of_run(row, around));
        rows.iter().map(measured).collect()
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        let choices = best::choose(study);
        curve::write(study, page);
        counters(study, page);
        scalability::write(study, page);
        best::write(study, &choices, page);
        recommend::write(study, &choices, page);
        stores(study, page);
        factors::write(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        facts::run_facts(study)
    }

    fn lab_checks(&self, study: &Study) -> Vec<String> {
        facts::busy_work(study).into_iter().collect()
    }

    /// What is done first, then every level that is not the default.
    fn label(&self, cell: &Cell, defaults: &Cell) -> String {
        let level = |factor: &str| cell.get(factor).map_or("?", String::as_str);
        let plural = |count: &str| if count == "1" { "" } else { "s" };
        let (streams, transactions) = (level("streams"), level("transactions"));
        let mut text = format!("{streams} stream{} × {transactions}", plural(streams));
        text.push_str(&format!(", {}, {}", level("contention"), level("kinds")));
        for (name, level) in FACTORS.iter().filter_map(|f| Some((f.name, cell.get(f.name)?))) {
            match name {
                "contention" | "kinds" | "transactions" | "streams" => {}
                "workers" => text.push_str(&format!(", {level} worker{}", plural(level))),
                _ if defaults.get(name) == Some(level) => {}
                "work_ns" => text.push_str(&format!(", work {level} ns")),
                _ => text.push_str(&format!(", {name} {level}")),
            }
        }
        text
    }

    /// The harness keeps no ledger, so it answers another question.
    fn is_candidate(&self, entry: &VariantEntry) -> bool {
        !entry.tags.iter().any(|tag| tag == HARNESS_TAG)
    }

    /// Records of before said that its answers were verified, and it has none.
    fn verification(&self, entry: &VariantEntry, run: &Run) -> Verification {
        match run.verification {
            Verification::Verified if !self.is_candidate(entry) => Verification::Checked,
            said => said,
        }
    }

    fn slim(&self, _sweep: &RunFile, _run: &Run, samples: Samples) -> Samples {
        slim::middle_repetitions(samples)
    }
}

/// What the workers did, beside the time that it took.
const COUNTERS: [&str; 6] = [
    "cores_used",
    "switches_per_1000",
    "tokio_parks_per_1000",
    "lock_waits_per_1000",
    "lock_wait_share",
    "perf_cache_misses_per_transaction",
];

/// What not every record has: the bound on what memory gave, and what a runtime tells beside in a
/// build of its own. No column where no run has it.
const TOLD: [&str; 3] =
    ["memory_share_at_most", "tokio_steals_per_1000", "tokio_overflows_per_1000"];

/// Every variant over the reference, wherever both ran.
fn stores(study: &Study, page: &mut Page) {
    let (candidates, factors) = (study.candidates(), factors_of(study.family));
    let rows = Rows { variants: &candidates, keep: &|_| true, factors: &factors };
    let what =
        format!("Every store's time over that of `{}`, same cell and block", study.reference());
    let table = over_variant(study, &rows, study.reference(), &["elapsed_ns"]);
    page.chapter(Chapter::beside("stores", &what, table));
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
    let is_told = |metric: &&str| study.all.iter().any(|one| one.value(metric).is_some());
    let metrics: Vec<&str> = COUNTERS.into_iter().chain(TOLD.into_iter().filter(is_told)).collect();
    let what = "Switches, parks, misses, waits for locks (where `locks` is `watched`), medians";
    page.chapter(Chapter::beside("counters", what, metrics_by_cell(study, &rows, &metrics)));
}
