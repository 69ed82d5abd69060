//! One factor at a time: what each setting costs or gains, everything else equal.

use std::collections::BTreeSet;

use lab_family::{Cell, Unit};
use lab_report::effect::{Effect, as_times, log_ratios};
use lab_report::page::Page;
use lab_report::study::{Study, with};
use lab_report::tables::{Entry, Table};

use super::{allocator, engines};
use crate::metrics::{SEARCH, WALL};
use crate::{FACTORS, PLACE};

/// One setting against the default one, for one engine.
struct Setting<'a> {
    factor: &'static str,
    level: String,
    against: String,
    engine: &'a str,
    /// Logarithms of time at the level over time at the default, by cell.
    cells: Vec<(Cell, Vec<f64>)>,
}

pub(super) fn write(study: &Study, page: &mut Page) {
    let settings = settings(study);
    if settings.is_empty() {
        return;
    }
    page.heading("One factor at a time");
    page.paragraph(
        "Time at a level over the time at the default level, everything else equal, over all (cell \
         × block) pairs that have both and the default of every other setting; \
         `ablations-by-cell.tsv` has a row per cell, crossed settings included. Below 1 the level \
         is faster. Time is the whole process's, but with a cold cache the search's own: dropping \
         the files is no part of it. Exploratory, 95 % per row. An allocator is a program of its \
         own, against the same engine with the system's.",
    );
    page.table("ablations", &pooled(study, &settings));
    page.data("ablations-by-cell", &by_cell(study, &settings));
}

/// The time that a setting is judged by. Dropping files from the page cache is part of the process
/// and none of the search, so wherever that happens the engine's own clock is read.
fn metric(factor: &str, cell: &Cell) -> &'static str {
    let is_cold = cell.get("cache").is_some_and(|level| level == "cold");
    if factor == "cache" || is_cold { SEARCH } else { WALL }
}

fn settings<'a>(study: &Study<'a>) -> Vec<Setting<'a>> {
    let mut settings = Vec::new();
    let switches = FACTORS.iter().map(|factor| factor.name).filter(|name| !PLACE.contains(name));
    for factor in switches {
        let Some(default) = study.defaults.get(factor) else { continue };
        for engine in engines(study) {
            let curves = study.along(engine, factor);
            let levels: BTreeSet<_> = curves.iter().flat_map(|(_, levels)| levels).collect();
            let mut levels: Vec<&String> = levels.into_iter().filter(|l| *l != default).collect();
            levels.sort_by_cached_key(|level| study.level_rank(factor, level));
            for level in levels {
                let ratios = |rest: &Cell| {
                    let at = |level| {
                        study.series(engine, &with(rest, factor, level), metric(factor, rest))
                    };
                    log_ratios(&at(level), &at(default)).into_values().collect()
                };
                let cells = curves.iter().map(|(rest, _)| (rest.clone(), ratios(rest))).collect();
                let (level, against) = (level.clone(), default.clone());
                settings.push(Setting { factor, level, against, engine, cells });
            }
        }
    }
    settings.extend(allocators(study));
    settings.iter_mut().for_each(|one| one.cells.retain(|(_, ratios)| !ratios.is_empty()));
    settings.retain(|one| !one.cells.is_empty());
    settings
}

/// An engine with another allocator against the same engine with the system's.
fn allocators<'a>(study: &Study<'a>) -> Vec<Setting<'a>> {
    let of = |program: &'a str| {
        let allocator = allocator(program)?;
        let engine = program.strip_suffix(allocator)?.strip_suffix('_')?;
        let ratios = |cell: &Cell| {
            let at = |variant| study.series(variant, cell, WALL);
            log_ratios(&at(program), &at(engine)).into_values().collect()
        };
        let cells = study.cells(program).into_iter();
        let cells = cells.map(|cell| (cell.clone(), ratios(cell))).collect();
        let (level, against) = (allocator.to_owned(), "system".to_owned());
        Some(Setting { factor: "allocator", level, against, engine, cells })
    };
    study.variants().into_iter().filter_map(of).collect()
}

impl Setting<'_> {
    fn entries(&self) -> Vec<Entry> {
        vec![
            Entry::text(self.factor),
            Entry::text(&self.level),
            Entry::text(&self.against),
            Entry::code(self.engine),
        ]
    }
}

const COLUMNS: [(&str, &str); 4] =
    [("factor", "factor"), ("level", "level"), ("against", "reference"), ("engine", "engine")];
const RATIO: [(&str, &str); 3] =
    [("time ratio", "ratio"), ("low", "ratio_low"), ("high", "ratio_high")];

fn pooled(study: &Study, settings: &[Setting]) -> Table {
    let counts = [("corpora and queries", "cells"), ("pairs", "n")];
    let mut table = Table::new(&[&COLUMNS[..], &counts, &RATIO].concat());
    for one in settings {
        let is_plain =
            |cell: &Cell| study.is_default_but(cell, &[&PLACE[..], &[one.factor]].concat());
        let plain: Vec<_> = one.cells.iter().filter(|(cell, _)| is_plain(cell)).collect();
        let ratios = plain.iter().flat_map(|(_, ratios)| ratios.iter().copied());
        let effect = Effect::of(ratios.collect());
        let mut row = one.entries();
        row.push(Entry::count(plain.len()));
        row.push(Entry::value(effect.as_ref().map(|effect| effect.n() as f64), Unit::Count));
        row.extend(as_times(effect.as_ref()));
        table.row(row);
    }
    table
}

fn by_cell(study: &Study, settings: &[Setting]) -> Table {
    let place = [("cell", "cell"), ("metric", "metric"), ("n", "n")];
    let mut table = Table::new(&[&COLUMNS[..], &place, &RATIO].concat());
    for one in settings {
        for (cell, ratios) in &one.cells {
            let mut row = one.entries();
            row.push(Entry::text(study.label(cell)));
            row.push(Entry::text(metric(one.factor, cell)));
            row.push(Entry::count(ratios.len()));
            row.extend(as_times(Effect::of(ratios.clone()).as_ref()));
            table.row(row);
        }
    }
    table
}
