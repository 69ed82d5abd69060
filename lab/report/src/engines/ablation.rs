//! One factor at a time: what each setting costs or gains, everything else equal.

use std::collections::BTreeSet;

use super::measure::WALL;
use super::sweep::{Cell as Levels, FACTORS, PLACE, Sweep, with};
use crate::effect::{Effect, as_times, log_ratios};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// Factors with a level that is the normal one.
const SWITCHES: [&str; 10] = [
    "read",
    "chunk",
    "buffer_bytes",
    "channel_bound",
    "semaphore",
    "result_capacity",
    "prefilter",
    "parser",
    "advise",
    "cache",
];

/// One setting against the normal one, for one engine.
pub(super) struct Setting<'a> {
    pub(super) factor: &'static str,
    pub(super) level: String,
    pub(super) against: String,
    pub(super) engine: &'a str,
    /// Time at the level over time at the normal level, by the cell without the factor.
    cells: Vec<(Levels, Effect)>,
    /// Of those, the cells that have the normal level of every other setting, pooled.
    pub(super) pooled: Option<Effect>,
}

/// The time that a setting is judged by. Dropping files from the page cache is part of the process
/// and none of the search, so wherever that happens the engine's own clock is read.
fn metric(factor: &str, rest: &Levels) -> &'static str {
    let is_cold = rest.get("cache").is_some_and(|level| level == "cold");
    if factor == "cache" || is_cold { "wall_ns" } else { WALL }
}

pub(super) fn settings<'a>(sweep: &Sweep<'a>) -> Vec<Setting<'a>> {
    let mut settings = Vec::new();
    for factor in SWITCHES {
        let Some(normal) = sweep.base.get(factor) else { continue };
        for engine in sweep.engines() {
            let groups = sweep.along(engine, factor).into_iter();
            let groups: Vec<(Levels, Vec<String>)> =
                groups.filter(|(_, levels)| levels.contains(normal)).collect();
            let mut levels: Vec<&String> =
                groups.iter().flat_map(|(_, levels)| levels).filter(|l| *l != normal).collect();
            levels.sort_by_cached_key(|level| (sweep.level_rank(factor, level), (*level).clone()));
            levels.dedup();
            let of = |level: &String| setting(sweep, (factor, level, normal), engine, &groups);
            settings.extend(levels.into_iter().map(of));
        }
    }
    settings.extend(allocators(sweep));
    settings.retain(|setting| !setting.cells.is_empty());
    settings
}

/// An engine with another allocator against the same engine with the system's.
fn allocators<'a>(sweep: &Sweep<'a>) -> Vec<Setting<'a>> {
    let of = |(engine, allocator, program): (&'a str, &str, &str)| {
        let cells = sweep.cells(program).into_iter().map(|cell| {
            let at = |variant: &str| sweep.wall(variant, cell);
            (cell, log_ratios(&at(program), &at(engine)).into_values().collect())
        });
        Setting::of(sweep, ("allocator", allocator, "system"), engine, cells.collect())
    };
    sweep.allocators().into_iter().map(of).collect()
}

fn setting<'a>(
    sweep: &Sweep,
    (factor, level, normal): (&'static str, &str, &str),
    engine: &'a str,
    groups: &[(Levels, Vec<String>)],
) -> Setting<'a> {
    let ratios = |rest: &Levels| -> Vec<f64> {
        let metric = metric(factor, rest);
        let at = |level: &str| sweep.series(engine, &with(rest, factor, level), metric);
        log_ratios(&at(level), &at(normal)).into_values().collect()
    };
    let by_cell = groups.iter().map(|(rest, _)| (rest, ratios(rest)));
    Setting::of(sweep, (factor, level, normal), engine, by_cell.collect())
}

impl<'a> Setting<'a> {
    /// By the logarithms of each cell's ratios.
    fn of(
        sweep: &Sweep,
        (factor, level, against): (&'static str, &str, &str),
        engine: &'a str,
        mut cells: Vec<(&Levels, Vec<f64>)>,
    ) -> Self {
        cells.retain(|(_, all)| !all.is_empty());
        let plain = cells.iter().filter(|(rest, _)| sweep.is_base_but(rest, &PLACE));
        let pooled = Effect::of(plain.flat_map(|(_, ratios)| ratios.iter().copied()).collect());
        let cells = cells.into_iter();
        Self {
            factor,
            level: level.to_owned(),
            against: against.to_owned(),
            engine,
            pooled,
            cells: cells.filter_map(|(rest, all)| Some((rest.clone(), Effect::of(all)?))).collect(),
        }
    }
}

pub(super) fn write(sweep: &Sweep, settings: &[Setting], page: &mut Page) {
    page.heading("One factor at a time");
    if settings.is_empty() {
        page.paragraph("No setting has two levels in these records.");
    } else {
        page.paragraph(
            "Time at a level over the time at the normal level, everything else equal, over all \
             (cell × block) pairs that have both and are otherwise normal; \
             `ablations-by-cell.tsv` has a row per cell, crossed settings included. Below 1 the \
             level is faster. Time is the whole process's, but with a cold cache the search's \
             own: dropping the files is no part of it. Exploratory, at 95 % per row.",
        );
        page.table("ablations", &pooled(sweep, settings));
        page.data("ablations-by-cell", &by_cell(sweep, settings));
    }
    page.paragraph(&not_varied(sweep));
}

/// The factors that have one level alone, so that a reader does not look for them.
fn not_varied(sweep: &Sweep) -> String {
    let engines = sweep.engines();
    let cells = sweep.cells_of(&engines);
    let single = |factor: &&str| {
        let levels: BTreeSet<&String> = cells.iter().filter_map(|c| c.get(*factor)).collect();
        levels.len() < 2
    };
    let factors: Vec<&str> = FACTORS.iter().copied().filter(single).collect();
    let factors = match factors.is_empty() {
        true => "Every factor was varied.".to_owned(),
        false => format!("Not varied: {}.", factors.join(", ")),
    };
    let allocator = match sweep.allocators().len() {
        0 => "No engine came with another allocator: it is no factor of these records.",
        _ => "An allocator is a program of its own, and the system's is against it.",
    };
    format!("{factors} {allocator}")
}

fn pooled(sweep: &Sweep, settings: &[Setting]) -> Table {
    let mut table = Table::new(&[
        ("factor", "factor"),
        ("level", "level"),
        ("against", "reference"),
        ("engine", "engine"),
        ("corpora and queries", "cells"),
        ("pairs", "n"),
        ("time ratio", "ratio"),
        ("low", "ratio_low"),
        ("high", "ratio_high"),
        ("which is", "reading"),
    ]);
    for one in settings {
        let plain = one.cells.iter().filter(|(rest, _)| sweep.is_base_but(rest, &PLACE));
        let mut row = vec![
            Cell::text(one.factor),
            Cell::text(&one.level),
            Cell::text(&one.against),
            Cell::code(one.engine),
            Cell::count(plain.count()),
            Cell::value(one.pooled.as_ref().map(|effect| effect.n() as f64), Unit::Count),
        ];
        row.extend(as_times(one.pooled.as_ref()));
        row.push(Cell::text(reading(one.pooled.as_ref())));
        table.row(row);
    }
    table
}

pub(super) fn reading(effect: Option<&Effect>) -> &'static str {
    match effect {
        None => "only beside another setting",
        Some(effect) if effect.interval.is_none() => "too few pairs",
        Some(effect) if effect.surely_below(0.0) => "faster",
        Some(effect) if effect.surely_above(0.0) => "slower",
        Some(_) => "not shown to differ",
    }
}

fn by_cell(sweep: &Sweep, settings: &[Setting]) -> Table {
    let mut table = Table::new(&[
        ("factor", "factor"),
        ("level", "level"),
        ("against", "reference"),
        ("engine", "engine"),
        ("cell", "cell"),
        ("metric", "metric"),
        ("n", "n"),
        ("time ratio", "ratio"),
        ("low", "ratio_low"),
        ("high", "ratio_high"),
    ]);
    for one in settings {
        for (rest, effect) in &one.cells {
            let mut row = vec![
                Cell::text(one.factor),
                Cell::text(&one.level),
                Cell::text(&one.against),
                Cell::code(one.engine),
                Cell::text(sweep.label(rest)),
                Cell::text(metric(one.factor, rest)),
                Cell::count(effect.n()),
            ];
            row.extend(as_times(Some(effect)));
            table.row(row);
        }
    }
    table
}
