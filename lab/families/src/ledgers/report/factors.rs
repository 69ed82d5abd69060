//! One factor at a time: what each setting costs or gains, everything else equal.

use lab_family::Cell;
use lab_report::settings::{Setting, by_cell, pooled, settings};
use lab_report::{Page, Study, log_ratios};

use super::workers::PLAIN;

/// Factors with a level that is the normal one.
const SWITCHES: [&str; 5] = ["pinned", "spawn", "shards", "contention", "locks"];

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("One factor at a time");
    let settings = all_settings(study);
    if settings.is_empty() {
        page.paragraph("No factor but the number of workers has two levels in these records.");
        return;
    }
    page.paragraph(
        "Time at a level over that at the normal level, in (cell × block) pairs; below 1 the level \
         is faster. Exploratory, 95 % per row. By cell: `factors-by-cell.tsv`.",
    );
    page.table("factors", &pooled(&settings, "variant", "cells", |_, _| true));
    page.data("factors-by-cell", &by_cell(study, &settings, "variant", None));
}

/// Teardown, numbers of workers, and every switch, each at its levels for all variants.
fn all_settings<'a>(study: &Study<'a>) -> Vec<Setting<'a>> {
    let variants = study.variants();
    let cpus = study.cpus().to_string();
    let mut all: Vec<Setting> = variants.iter().map(|variant| teardown(study, variant)).collect();
    for (level, against) in [("current_thread", "1"), ("default", &cpus)] {
        let of = |variant: &&'a str| {
            Setting::of(study, ("workers", level, against), variant, |_| "elapsed_ns")
        };
        all.extend(variants.iter().map(of));
    }
    all.retain(|one| !one.is_empty());
    all.extend(settings(study, SWITCHES, &variants, |_, _| "elapsed_ns"));
    all.sort_by_key(|one| (order(one.factor), one.level.clone()));
    all
}

fn order(factor: &str) -> usize {
    let known = ["teardown", "workers", "pinned", "spawn", "shards", "contention", "locks"];
    known.iter().position(|name| *name == factor).unwrap_or(known.len())
}

/// Dropping the maps in the timed region, as the published benchmark did, or not.
fn teardown<'a>(study: &Study, variant: &'a str) -> Setting<'a> {
    let pair = |cell: &Cell| {
        let whole = study.series(variant, cell, "elapsed_with_teardown_ns");
        (cell.clone(), log_ratios(&whole, &study.series(variant, cell, "elapsed_ns")))
    };
    let cells = study.cells(variant).into_iter().filter(|cell| study.is_default_but(cell, &PLAIN));
    Setting::new(("teardown", "timed", "apart"), variant, cells.map(pair))
}
