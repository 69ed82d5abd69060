//! One factor at a time: what each level costs or gains against another one, everything else equal.

use std::collections::BTreeSet;

use lab_family::{Cell, Unit};

use crate::chapter::Column::{Code, Count, Each, Interval, Number, Text, Words};
use crate::effect::{Effect, Series, log_ratios};
use crate::reading::Reading;
use crate::study::Study;
use crate::study::with;
use crate::tables::{Entry, Table};

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
    Table::over(
        settings.iter().map(pool),
        &[
            Text("factor", "factor", &|(one, ..)| one.factor),
            Text("level", "level", &|(one, ..)| &one.level),
            Text("against", "reference", &|(one, ..)| &one.against),
            Code(who, who, &|(one, ..)| one.variant),
            Count(cells, "cells", &|(_, cells, _)| *cells),
            Number("pairs", "n", Unit::Count, &|(.., ratio)| Some(ratio.as_ref()?.n as f64)),
            Interval("time ratio", "ratio", &|(.., ratio)| *ratio),
        ],
    )
}

/// The metric that a setting is judged by in a cell.
pub type JudgedBy<'m> = dyn Fn(&Setting, &Cell) -> &'static str + 'm;

/// A row for each setting and cell; `metric` says what it is judged by, where that is not always
/// the same.
pub fn by_cell(study: &Study, settings: &[Setting], who: &str, metric: Option<&JudgedBy>) -> Table {
    let cells = settings.iter().flat_map(|one| one.cells.iter().map(move |(c, r)| (one, c, r)));
    let judged_by: &[_] = if metric.is_some() { &[("", "metric")] } else { &[] };
    Table::over(
        cells,
        &[
            Text("", "factor", &|(one, ..)| one.factor),
            Text("", "level", &|(one, ..)| &one.level),
            Text("", "reference", &|(one, ..)| &one.against),
            Code("", who, &|(one, ..)| one.variant),
            Words("", "cell", &|(_, cell, _)| study.label(cell)),
            Each(judged_by, &|(one, cell, _), _| {
                Entry::optional(metric.map(|metric| metric(one, cell)))
            }),
            Count("", "n", &|(.., ratios)| ratios.len()),
            Interval("", "ratio", &|(.., ratios)| ratio(ratios.values().copied())),
        ],
    )
}

fn ratio(logarithms: impl Iterator<Item = f64>) -> Option<Reading> {
    Effect::of(logarithms.collect()).as_ref().map(Reading::of_ratio)
}
