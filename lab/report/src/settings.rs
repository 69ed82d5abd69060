//! One factor at a time: what each level costs or gains against another one, everything else equal.

use std::collections::BTreeSet;

use lab_family::{Cell, Unit};

use crate::study::with;
use crate::tables::Column;
use crate::{Effect, Entry, Reading, Series, Study, Table, log_ratios};

/// One level of a factor against another one, for one variant.
pub struct Setting<'a> {
    /// The factor.
    pub factor: &'a str,
    /// The level.
    pub level: String,
    /// What it is held against.
    pub against: String,
    /// The variant that ran both.
    pub variant: &'a str,
    /// By cell without the factor: logarithms of the metric at the level over the metric at the
    /// other one, by block.
    cells: Vec<(Cell, Series)>,
}

/// A setting in one of its cells.
pub type SettingIn<'s> = (&'s Setting<'s>, &'s Cell, &'s Series);

impl<'a> Setting<'a> {
    /// A setting with its cells; those without a block are left out.
    pub fn new(
        (factor, level, against): (&'a str, &str, &str),
        variant: &'a str,
        cells: impl IntoIterator<Item = (Cell, Series)>,
    ) -> Self {
        let (level, against) = (level.to_owned(), against.to_owned());
        let cells = cells.into_iter().filter(|(_, ratios)| !ratios.is_empty()).collect();
        Self { factor, level, against, variant, cells }
    }

    /// Two levels of a factor, wherever a variant ran both; `metric` says by what a cell is judged.
    pub fn of(
        study: &Study,
        (factor, level, against): (&'a str, &str, &str),
        variant: &'a str,
        metric: impl Fn(&Cell) -> &'static str,
    ) -> Self {
        let pair = |(rest, _): (Cell, Vec<String>)| {
            let at = |level| study.series(variant, &with(&rest, factor, level), metric(&rest));
            let ratios = log_ratios(&at(level), &at(against));
            (rest, ratios)
        };
        let cells = study.along(variant, factor).into_iter().map(pair);
        Self::new((factor, level, against), variant, cells)
    }

    /// Whether no cell has a block with both.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

/// Every level of these factors against the default one, for each variant that ran both.
pub fn settings<'a>(
    study: &Study,
    factors: impl IntoIterator<Item = &'a str>,
    variants: &[&'a str],
    metric: impl Fn(&str, &Cell) -> &'static str,
) -> Vec<Setting<'a>> {
    let mut settings = Vec::new();
    for factor in factors {
        let Some(default) = study.defaults.get(factor) else { continue };
        for variant in variants {
            let curves = study.along(variant, factor);
            let levels: BTreeSet<&String> = curves.iter().flat_map(|(_, levels)| levels).collect();
            let mut levels: Vec<&String> = levels.into_iter().filter(|l| *l != default).collect();
            levels.sort_by_cached_key(|level| study.level_rank(factor, level));
            settings.extend(levels.into_iter().map(|level| {
                Setting::of(study, (factor, level, default), variant, |rest| metric(factor, rest))
            }));
        }
    }
    settings.retain(|one| !one.is_empty());
    settings
}

/// A row for each setting, over all blocks of the cells that `keep` lets through. `who` is what the
/// family calls a variant.
pub fn pooled<'s>(
    settings: &'s [Setting<'s>],
    who: &str,
    cells: &str,
    keep: impl Fn(&Setting, &Cell) -> bool,
) -> Table {
    let pool = |one: &'s Setting<'s>| {
        let kept = one.cells.iter().filter(|(cell, _)| keep(one, cell));
        let ratios = kept.clone().flat_map(|(_, ratios)| ratios.values().copied());
        (one, kept.count(), ratio(ratios))
    };
    let pairs = |ratio: &Option<Reading>| ratio.map(|ratio| ratio.n as f64);
    Table::of(
        settings.iter().map(pool),
        &[
            ("factor", "factor", &|(one, ..)| Entry::text(one.factor)),
            ("level", "level", &|(one, ..)| Entry::text(&one.level)),
            ("against", "reference", &|(one, ..)| Entry::text(&one.against)),
            (who, who, &|(one, ..)| Entry::code(one.variant)),
            (cells, "cells", &|(_, cells, _)| Entry::count(*cells)),
            ("pairs", "n", &|(.., ratio)| Entry::value(pairs(ratio), Unit::Count)),
            ("time ratio", "", &|(.., ratio)| Reading::in_short(*ratio)),
            ("", "ratio", &|(.., ratio)| Reading::middle(*ratio)),
            ("", "ratio_low", &|(.., ratio)| Reading::low(*ratio)),
            ("", "ratio_high", &|(.., ratio)| Reading::high(*ratio)),
        ],
    )
}

/// A row for each setting and cell, with columns of the family's own after the cell.
pub fn by_cell<'s>(
    study: &Study,
    settings: &'s [Setting<'s>],
    who: &str,
    own: &[Column<'_, SettingIn<'s>>],
) -> Table {
    let cells = settings.iter().flat_map(|one| one.cells.iter().map(move |(c, r)| (one, c, r)));
    let ratio = |ratios: &Series| ratio(ratios.values().copied());
    let setting: [Column<SettingIn>; 5] = [
        ("factor", "factor", &|(one, ..)| Entry::text(one.factor)),
        ("level", "level", &|(one, ..)| Entry::text(&one.level)),
        ("against", "reference", &|(one, ..)| Entry::text(&one.against)),
        (who, who, &|(one, ..)| Entry::code(one.variant)),
        ("cell", "cell", &|(_, cell, _)| Entry::text(study.label(cell))),
    ];
    let ratios: [Column<SettingIn>; 4] = [
        ("n", "n", &|(.., ratios)| Entry::count(ratios.len())),
        ("time ratio", "ratio", &|(.., ratios)| Reading::middle(ratio(ratios))),
        ("low", "ratio_low", &|(.., ratios)| Reading::low(ratio(ratios))),
        ("high", "ratio_high", &|(.., ratios)| Reading::high(ratio(ratios))),
    ];
    Table::of(cells, &[&setting[..], own, &ratios].concat())
}

fn ratio(logarithms: impl Iterator<Item = f64>) -> Option<Reading> {
    Effect::of(logarithms.collect()).as_ref().map(Reading::of_ratio)
}
