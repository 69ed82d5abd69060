//! The quantities of an expectation, read from runs: by block and the levels that stay free.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Cell;
use lab_record::{Expectation, OneOrMore, Quantity};
use lab_stats::describe::median;

use crate::effect::Series;
use crate::measure::Measured;
use crate::study::{Runs, Study};

/// Block and the levels that stay free: what the two sides of a ratio share.
pub(crate) type Key = (u32, Vec<String>);
/// A quantity.
pub(crate) type Values = BTreeMap<Key, f64>;

/// Where a metric is read.
pub(crate) trait Source {
    /// The cells in which a variant ran.
    fn cells(&self, variant: &str) -> Vec<&Cell>;
    /// A metric by block.
    fn series(&self, variant: &str, cell: &Cell, metric: &str) -> Series;
}

/// The blocks of a sweep.
pub(crate) struct OfStudy<'s, 'a> {
    pub(crate) study: &'s Study<'a>,
    pub(crate) runs: Runs,
}

impl Source for OfStudy<'_, '_> {
    fn cells(&self, variant: &str) -> Vec<&Cell> {
        self.study.cells(variant)
    }

    fn series(&self, variant: &str, cell: &Cell, metric: &str) -> Series {
        self.study.series_of(self.runs, variant, cell, metric)
    }
}

/// Some runs.
pub(crate) struct OfRuns<'s, 'a>(pub(crate) &'s [&'s Measured<'a>]);

impl Source for OfRuns<'_, '_> {
    fn cells(&self, variant: &str) -> Vec<&Cell> {
        let own = self.0.iter().filter(|one| one.variant() == variant);
        own.map(|one| &one.row.run.cell).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn series(&self, variant: &str, cell: &Cell, metric: &str) -> Series {
        let here =
            self.0.iter().filter(|one| one.variant() == variant && one.row.run.cell == *cell);
        here.filter_map(|one| Some((one.row.run.block, one.value(metric)?))).collect()
    }
}

/// Reads quantities of one expectation from some of the runs.
pub(crate) struct Side<'s> {
    pub(crate) source: &'s dyn Source,
    pub(crate) expectation: &'s Expectation,
    /// The level of every factor that nobody names.
    pub(crate) defaults: &'s Cell,
    /// Whether a metric is better when higher.
    pub(crate) higher: &'s dyn Fn(&str) -> bool,
}

impl Side<'_> {
    pub(crate) fn values(&self, quantity: &Quantity) -> Values {
        let Some((variants, metric)) = self.expectation.about(quantity) else {
            return Values::new();
        };
        let of = |(variant, at): &(&String, Quantity)| self.of_variant(variant, metric, at);
        let mut values = match quantity.candidates(variants).as_slice() {
            [only] => of(only),
            several => best((self.higher)(metric), several.iter().map(of).collect()),
        };
        if let Some(over) = &quantity.over {
            let below = self.values(over);
            values = shared(&values, &below).map(|(key, a, b)| (key, a / b)).collect();
        }
        if let Some(minus) = &quantity.minus {
            let less = self.values(minus);
            values = shared(&values, &less).map(|(key, a, b)| (key, a - b)).collect();
        }
        let (times, power) = (quantity.times.unwrap_or(1.0), quantity.power.unwrap_or(1.0));
        values.into_iter().map(|(key, value)| (key, times * value.powf(power))).collect()
    }

    /// The quantity with the one variant, at the one level, that is best here.
    pub(crate) fn chosen(&self, quantity: &Quantity) -> Option<Quantity> {
        let (variants, metric) = self.expectation.about(quantity)?;
        let inner = |one: &Option<Box<Quantity>>| match one {
            Some(one) => Some(Some(Box::new(self.chosen(one)?))),
            None => Some(None),
        };
        let (over, minus) = (inner(&quantity.over)?, inner(&quantity.minus)?);
        let middle = |(variant, at): &(&String, Quantity)| {
            let values: Vec<f64> = self.of_variant(variant, metric, at).into_values().collect();
            let middle = median(&values)?;
            Some(if (self.higher)(metric) { -middle } else { middle })
        };
        let ranked = quantity.candidates(variants).into_iter();
        let ranked = ranked.map(|one| (middle(&one).unwrap_or(f64::INFINITY), one));
        let (_, (variant, at)) = ranked.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let variant = Some(OneOrMore::One(variant.clone()));
        Some(Quantity { variant, best_of: Vec::new(), over, minus, ..at })
    }

    fn of_variant(&self, variant: &str, metric: &str, quantity: &Quantity) -> Values {
        let mut values = Values::new();
        for cell in self.source.cells(variant) {
            let free = self.expectation.free_levels(quantity, cell, self.defaults);
            let Some(free) = free else { continue };
            for (block, value) in self.source.series(variant, cell, metric) {
                values.insert((block, free.clone()), value);
            }
        }
        values
    }
}

pub(crate) fn shared<'v>(
    a: &'v Values,
    b: &'v Values,
) -> impl Iterator<Item = (Key, f64, f64)> + 'v {
    a.iter().filter_map(|(key, value)| Some((key.clone(), *value, *b.get(key)?)))
}

pub(crate) fn log_ratios(a: &Values, b: &Values) -> Vec<f64> {
    let positive = shared(a, b).filter(|(_, a, b)| *a > 0.0 && *b > 0.0);
    positive.map(|(_, a, b)| (a / b).ln()).collect()
}

/// By key the value of the variant that is best in all other blocks (leave one out), so that no
/// block judges the choice that it helped to make.
fn best(higher: bool, variants: Vec<Values>) -> Values {
    let keys: BTreeSet<&Key> = variants.iter().flat_map(BTreeMap::keys).collect();
    let chosen = |key: &Key| {
        let elsewhere = |values: &Values| {
            let others = values.iter().filter(|((block, _), _)| *block != key.0);
            let middle = median(&others.map(|(_, value)| *value).collect::<Vec<_>>())?;
            Some(if higher { -middle } else { middle })
        };
        let ranked = variants.iter().filter_map(|values| Some((elsewhere(values)?, values)));
        let (_, best) = ranked.min_by(|a, b| a.0.total_cmp(&b.0))?;
        best.get(key).copied()
    };
    keys.into_iter().filter_map(|key| Some((key.clone(), chosen(key)?))).collect()
}
