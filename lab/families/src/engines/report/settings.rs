//! One factor at a time: what each setting costs or gains, everything else equal.

use lab_family::Cell;
use lab_report::settings::{Setting, by_cell, pooled, settings};
use lab_report::{Page, Study, log_ratios};

use super::{allocator, engines, wall};
use crate::engines::metrics::SEARCH;
use crate::engines::{FACTORS, PLACE};

pub(super) fn write(study: &Study, page: &mut Page) {
    let switches = FACTORS.iter().map(|factor| factor.name).filter(|name| !PLACE.contains(name));
    let wall = wall(study);
    let metric = |factor: &str, cell: &Cell| metric(wall, factor, cell);
    let mut settings = settings(study, switches, &engines(study), metric);
    settings.extend(allocators(study).into_iter().filter(|one| !one.is_empty()));
    if settings.is_empty() {
        return;
    }
    page.heading("One factor at a time");
    page.paragraph(
        "Time at a level over that at the default level, in (cell × block) pairs; below 1 the \
         level is faster. With a cold cache the search's own time. Exploratory, 95 % per row. By \
         cell: `ablations-by-cell.tsv`.",
    );
    let plain = |one: &Setting, cell: &Cell| {
        study.is_default_but(cell, &[&PLACE[..], &[one.factor]].concat())
    };
    page.table("ablations", &pooled(&settings, "engine", "corpora and queries", plain));
    let judged_by = |one: &Setting, cell: &Cell| metric(one.factor, cell);
    let by_cell = by_cell(study, &settings, "engine", Some(&judged_by));
    page.data("ablations-by-cell", &by_cell);
}

/// The time that a setting is judged by. Dropping files from the page cache is part of the process
/// and none of the search, so wherever that happens the engine's own clock is read.
fn metric(wall: &'static str, factor: &str, cell: &Cell) -> &'static str {
    let is_cold = cell.get("cache").is_some_and(|level| level == "cold");
    if factor == "cache" || is_cold { SEARCH } else { wall }
}

/// An engine with another allocator against the same engine with the system's.
fn allocators<'a>(study: &Study<'a>) -> Vec<Setting<'a>> {
    let of = |program: &'a str| {
        let allocator = allocator(program)?;
        let engine = program.strip_suffix(allocator)?.strip_suffix('_')?;
        let ratios = |cell: &Cell| {
            let at = |variant| study.series(variant, cell, wall(study));
            (cell.clone(), log_ratios(&at(program), &at(engine)))
        };
        let cells = study.cells(program).into_iter().map(ratios);
        Some(Setting::new(("allocator", allocator, "system"), engine, cells))
    };
    study.variants().into_iter().filter_map(of).collect()
}
