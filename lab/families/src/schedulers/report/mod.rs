//! What this family's reports have beside the declared questions: every test by cell and policy,
//! and what each test alone can show.

mod changes;
mod counters;
mod facts;
mod grid;
mod ratios;
mod regret;
mod stalls;
mod starvation;
mod which;

use lab_family::Cell;
use lab_record::{Run, RunFile, Samples, VariantEntry};
use lab_report::{
    Chapter, FamilyReport, Frame, Measured, Page, Row, Rows, Study, metrics_by_cell, over_level,
    over_variant,
};
use toml::Table;

use crate::schedulers::{ORACLE, PINNED, Schedulers, metrics, slim};

impl FamilyReport for Schedulers {
    fn measure<'a>(
        &self,
        _frame: &'a Frame,
        _section: &Table,
        rows: &[&'a Row],
    ) -> Vec<Measured<'a>> {
        rows.iter().map(|row| Measured::new(row, metrics::of_run(row))).collect()
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        which::write(study, page);
        for chapter in &CHAPTERS {
            if !cells(study, chapter.test).is_empty() {
                one(study, chapter, page);
            }
        }
        counters::write(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        facts::run_facts(study)
    }

    fn lab_checks(&self, study: &Study) -> Vec<String> {
        facts::oracle_regret(study).into_iter().collect()
    }

    /// The test, and every factor that matters to it.
    fn label(&self, cell: &Cell, _defaults: &Cell) -> String {
        let chapter = CHAPTERS.iter().find(|chapter| is(cell, "test", chapter.test));
        let factors = chapter.map_or(&[][..], |chapter| chapter.factors).iter();
        let factors = factors.filter(|factor| cell.contains_key(**factor));
        let levels: Vec<String> =
            factors.map(|factor| format!("{factor} {}", level(cell, factor))).collect();
        format!("{}: {}", level(cell, "test"), levels.join(", "))
    }

    fn is_candidate(&self, entry: &VariantEntry) -> bool {
        entry.variant != ORACLE
    }

    fn slim(&self, sweep: &RunFile, run: &Run, samples: Samples) -> Samples {
        slim::slim(sweep, run, samples)
    }
}

/// The chapter of one test: its metrics in every cell.
struct OfTest {
    /// The level of the factor `test`, and the name of the table.
    test: &'static str,
    heading: &'static str,
    says: &'static str,
    /// The factors that matter to the test.
    factors: &'static [&'static str],
    /// The metrics that stand in the text.
    shown: &'static [&'static str],
    /// Those that stand in the table alone.
    kept: &'static [&'static str],
    /// What the test alone can show.
    more: fn(&Study, &mut Page),
}

const CHAPTERS: [OfTest; 4] = [
    OfTest {
        test: "decide",
        heading: "What a decision costs",
        says: "Time of a call in batches: median over batches and deciders, then over blocks. Two \
               deciders share their keys.",
        factors: &["part", "deciders"],
        shown: &["cold_ns", "choose_ns", "cycle_ns"],
        kept: &[],
        more: single,
    },
    OfTest {
        test: "replay",
        heading: "What wrong decisions cost",
        says: "All policies get the same costs. Regret: what the cheaper arm of each step would \
               have saved.",
        factors: &["costs"],
        shown: &[],
        kept: &[
            "regret_per_step_ns",
            "cost_ns",
            "learning_steps",
            "better_share",
            "offload_share",
            "switch_to_offload_steps",
            "switch_to_inline_steps",
            "followed_share",
        ],
        more: |study, page| {
            regret::write(study, page);
            changes::write(study, page);
        },
    },
    OfTest {
        test: "stream",
        heading: "Throughput of streams",
        says: "Items of calibrated busy work, a bounded number in flight; loom-rs always does one \
               at a time.",
        factors: &["work", "concurrency", "order", "tokio_workers", "rayon_threads", PINNED],
        shown: &["items_per_s", "offload_share"],
        kept: &["cores_used"],
        more: |study, page| {
            gain(study, page);
            ratios::write(study, page, ("stream", "items_per_s"));
        },
    },
    OfTest {
        test: "wake",
        heading: "How late a task wakes",
        says: "Latency of a timer's ticks until a task has read them, beside a load \
               (`closed_N`: N tasks, each starting its next job at once). Percentiles within a \
               run, then the median over blocks.",
        factors: &["load", "tokio_workers", PINNED],
        shown: &["tick_p99_ns"],
        kept: &[
            "tick_p50_ns",
            "jobs_per_s",
            "tick_p95_ns",
            "tick_p999_ns",
            "tick_max_ns",
            "job_p50_ns",
            "job_p99_ns",
            "offload_share",
            "cores_used",
            "guardrail_activations",
        ],
        more: |study, page| {
            interference(study, page);
            stalls::write(study, page);
            starvation::write(study, page);
            ratios::write(study, page, ("wake", "tick_p95_ns"));
        },
    },
];

/// Decisions that were timed one by one; older records have none.
fn single(study: &Study, page: &mut Page) {
    let variants = study.variants();
    let keep = |cell: &Cell| is(cell, "test", "decide") && is(cell, "part", "single");
    let rows = Rows { variants: &variants, keep: &keep, factors: &["part"] };
    let metrics = ["single_mean_ns", "single_p50_ns", "single_p99_ns", "single_sd_ns"];
    let what = "Mean, P50, P99 and deviation of single decisions, two clock reads included";
    let table = metrics_by_cell(study, &rows, &metrics);
    page.chapter(Chapter::beside("decide-single", what, table));
}

/// What a policy gains over offloading everything, by class of work.
fn gain(study: &Study, page: &mut Page) {
    let variants = study.variants();
    let keep = |cell: &Cell| is(cell, "test", "stream");
    let factors = &["work", "concurrency", "order", "tokio_workers", "rayon_threads"];
    let rows = Rows { variants: &variants, keep: &keep, factors };
    let table = over_variant(study, &rows, "always_offload", &["items_per_s"]);
    let what = "Rates over that of `always_offload`, same cell and block";
    page.chapter(Chapter::beside("gain", what, table));
}

/// What a load does to wake-ups: the published interference, P95 with it over P95 without.
fn interference(study: &Study, page: &mut Page) {
    let variants = study.variants();
    let keep = |cell: &Cell| is(cell, "test", "wake") && !is(cell, "load", "idle");
    let rows = Rows { variants: &variants, keep: &keep, factors: &["load", "tokio_workers"] };
    let table = over_level(study, &rows, ("load", "idle"), &["tick_p95_ns"]);
    let what = "Interference, P95 of ticks beside the load over that without";
    page.chapter(Chapter::beside("interference", what, table));
}

fn one(study: &Study, chapter: &OfTest, page: &mut Page) {
    page.heading(chapter.heading);
    page.paragraph(chapter.says);
    let cells = cells(study, chapter.test);
    let factors = known(&cells, chapter.factors);
    let shown = grid::of_metrics(study, &cells, &factors, chapter.shown);
    if !shown.is_empty() {
        page.excerpt(chapter.test, &shown.wide());
    }
    let keep = |cell: &Cell| is(cell, "test", chapter.test);
    let variants = study.variants();
    let rows = Rows { variants: &variants, keep: &keep, factors: &factors };
    let metrics = [chapter.shown, chapter.kept].concat();
    let what = format!("{}: all metrics, with intervals", chapter.heading);
    page.beside(chapter.test, &what, &metrics_by_cell(study, &rows, &metrics));
    (chapter.more)(study, page);
}

/// The cells of a test, in the order of tables.
fn cells<'s>(study: &'s Study, test: &str) -> Vec<&'s Cell> {
    study.all_cells().into_iter().filter(|cell| is(cell, "test", test)).collect()
}

/// The factors that some cell has a level of: older records lack the newest.
fn known<'f>(cells: &[&Cell], factors: &[&'f str]) -> Vec<&'f str> {
    let is_known = |factor: &&str| cells.iter().any(|cell| cell.contains_key(*factor));
    factors.iter().copied().filter(is_known).collect()
}

/// The level of a factor; empty where a cell of older records has none.
fn level<'c>(cell: &'c Cell, factor: &str) -> &'c str {
    cell.get(factor).map_or("", String::as_str)
}

fn is(cell: &Cell, factor: &str, wanted: &str) -> bool {
    level(cell, factor) == wanted
}
