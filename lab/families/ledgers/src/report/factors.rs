//! One factor at a time: what each setting costs or gains, everything else equal.

use std::collections::BTreeSet;

use lab_family::Cell;
use lab_report::effect::{Effect, Series, as_times, log_ratios};
use lab_report::page::Page;
use lab_report::study::{Study, with};
use lab_report::tables::{Entry, Table};

use super::workers::PLAIN;

/// Factors with a level that is the normal one.
const SWITCHES: [&str; 5] = ["pinned", "spawn", "shards", "contention", "locks"];

/// One setting against the normal one, for one variant: a logarithm of times by cell and block.
struct Setting<'a> {
    factor: &'a str,
    level: String,
    against: String,
    variant: &'a str,
    cells: Vec<(Cell, Series)>,
}

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("One factor at a time");
    let settings = settings(study);
    if settings.is_empty() {
        page.paragraph("No factor but the number of workers has two levels in these records.");
        return;
    }
    page.paragraph(
        "Time at a level over the time at the normal level, everything else equal, over all (cell \
         × block) pairs that have both; `factors-by-cell.tsv` has a row per cell. Below 1 the \
         level is faster. Exploratory, at 95 % per row.",
    );
    page.table("factors", &pooled(&settings));
    page.data("factors-by-cell", &by_cell(study, &settings));
}

fn settings<'a>(study: &Study<'a>) -> Vec<Setting<'a>> {
    let mut settings = Vec::new();
    for variant in study.variants() {
        for factor in SWITCHES {
            let normal = study.defaults.get(factor).map_or("", String::as_str);
            let levels: BTreeSet<String> = study
                .along(variant, factor)
                .into_iter()
                .filter(|(_, levels)| levels.iter().any(|level| level == normal))
                .flat_map(|(_, levels)| levels)
                .collect();
            for level in levels.into_iter().filter(|level| level != normal) {
                settings.push(setting(study, variant, factor, &level, normal));
            }
        }
        let cpus = study.cpus().to_string();
        settings.push(setting(study, variant, "workers", "current_thread", "1"));
        settings.push(setting(study, variant, "workers", "default", &cpus));
        settings.push(teardown(study, variant));
    }
    settings.retain(|setting| setting.cells.iter().any(|(_, series)| !series.is_empty()));
    settings.sort_by_key(|setting| (order(setting.factor), setting.level.clone()));
    settings
}

fn order(factor: &str) -> usize {
    let known = ["teardown", "workers", "pinned", "spawn", "shards", "contention", "locks"];
    known.iter().position(|name| *name == factor).unwrap_or(known.len())
}

fn setting<'a>(
    study: &Study,
    variant: &'a str,
    factor: &'a str,
    level: &str,
    against: &str,
) -> Setting<'a> {
    let pair = |rest: Cell| {
        let at = |level: &str| study.series(variant, &with(&rest, factor, level), "elapsed_ns");
        let series = log_ratios(&at(level), &at(against));
        (rest, series)
    };
    let groups = study.along(variant, factor).into_iter();
    let cells = groups.map(|(rest, _)| pair(rest)).filter(|(_, series)| !series.is_empty());
    let (level, against) = (level.to_owned(), against.to_owned());
    Setting { factor, level, against, variant, cells: cells.collect() }
}

/// Dropping the maps in the timed region, as the published benchmark did, or not.
fn teardown<'a>(study: &Study, variant: &'a str) -> Setting<'a> {
    let pair = |cell: &Cell| {
        let whole = study.series(variant, cell, "elapsed_with_teardown_ns");
        (cell.clone(), log_ratios(&whole, &study.series(variant, cell, "elapsed_ns")))
    };
    let cells = study.cells(variant).into_iter().filter(|c| study.is_default_but(c, &PLAIN));
    Setting {
        factor: "teardown",
        level: "timed".to_owned(),
        against: "apart".to_owned(),
        variant,
        cells: cells.map(pair).collect(),
    }
}

fn pooled(settings: &[Setting]) -> Table {
    let mut table = Table::new(&[
        ("factor", "factor"),
        ("level", "level"),
        ("against", "reference"),
        ("variant", "variant"),
        ("cells", "cells"),
        ("pairs", "n"),
        ("time ratio", "ratio"),
        ("low", "ratio_low"),
        ("high", "ratio_high"),
    ]);
    for one in settings {
        let all: Vec<f64> =
            one.cells.iter().flat_map(|(_, series)| series.values().copied()).collect();
        let n = all.len();
        let mut row = vec![
            Entry::text(one.factor),
            Entry::text(&one.level),
            Entry::text(&one.against),
            Entry::code(one.variant),
            Entry::count(one.cells.len()),
            Entry::count(n),
        ];
        row.extend(as_times(Effect::of(all).as_ref()));
        table.row(row);
    }
    table
}

fn by_cell(study: &Study, settings: &[Setting]) -> Table {
    let mut table = Table::new(&[
        ("factor", "factor"),
        ("level", "level"),
        ("against", "reference"),
        ("variant", "variant"),
        ("cell", "cell"),
        ("n", "n"),
        ("time ratio", "ratio"),
        ("low", "ratio_low"),
        ("high", "ratio_high"),
    ]);
    for one in settings {
        for (rest, series) in &one.cells {
            let effect = Effect::of(series.values().copied().collect());
            let mut row = vec![
                Entry::text(one.factor),
                Entry::text(&one.level),
                Entry::text(&one.against),
                Entry::code(one.variant),
                Entry::text(study.label(rest)),
                Entry::count(series.len()),
            ];
            row.extend(as_times(effect.as_ref()));
            table.row(row);
        }
    }
    table
}
