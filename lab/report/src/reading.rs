//! One number read off a series of runs, on its own scale, and how sure it is.

use lab_stats::describe::median;
use lab_stats::interval::{Interval, median_interval};

pub use crate::effect::Series;
use crate::effect::{CONFIDENCE, Effect};
use crate::tables::{Entry, show, show_with_ends};
use lab_family::Unit;

/// An estimate over blocks, with its interval where there are six of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The estimate.
    pub estimate: f64,
    /// The ends of the interval.
    pub low_high: Option<(f64, f64)>,
    /// Blocks, or values.
    pub n: usize,
    /// How the numbers are shown.
    pub unit: Unit,
}

impl Reading {
    /// The median over blocks, its interval by order statistics.
    pub fn level(series: &Series, unit: Unit) -> Option<Self> {
        Self::of_values(&series.values().copied().collect::<Vec<_>>(), unit)
    }

    /// The same of values in any order.
    pub fn of_values(values: &[f64], unit: Unit) -> Option<Self> {
        let interval = median_interval(values, CONFIDENCE);
        Some(Self {
            estimate: median(values)?,
            low_high: interval.map(|interval| (interval.low, interval.high)),
            n: values.len(),
            unit,
        })
    }

    /// `a` over `b` within blocks, by Hodges and Lehmann on logarithms. `None` where no block has
    /// both above 0.
    pub fn ratio(a: &Series, b: &Series) -> Option<Self> {
        Effect::log_ratio(a, b).as_ref().map(Self::of_ratio)
    }

    /// An effect on logarithms, as a ratio.
    pub fn of_ratio(effect: &Effect) -> Self {
        let ends = |interval: Interval| (interval.low.exp(), interval.high.exp());
        Self {
            estimate: effect.estimate.exp(),
            low_high: effect.interval.map(ends),
            n: effect.n(),
            unit: Unit::Times,
        }
    }

    /// The same for each of `count` parts.
    pub fn over(self, count: f64) -> Self {
        let low_high = self.low_high.map(|(low, high)| (low / count, high / count));
        Self { estimate: self.estimate / count, low_high, ..self }
    }

    /// "0.25× (0.24 … 0.26, n = 12)".
    pub fn text(&self) -> String {
        let shown = |value: f64| show(value, self.unit);
        let (estimate, n) = (shown(self.estimate), self.n);
        match self.low_high {
            Some(_) => format!("{}, n = {n})", self.short().trim_end_matches(')')),
            None => format!("{estimate} (no interval, n = {n})"),
        }
    }

    /// "0.25× (0.24 … 0.26)", for tables whose caption states n.
    pub fn short(&self) -> String {
        let shown = |value: f64| show(value, self.unit);
        match self.low_high {
            Some((low, high)) => show_with_ends(&shown(self.estimate), [&shown(low), &shown(high)]),
            None => shown(self.estimate),
        }
    }

    /// The estimate with its interval, for a column that people read.
    pub fn in_short(reading: Option<Self>) -> Entry {
        Entry::optional(reading.map(|one| one.short()))
    }

    /// Entries of a table: estimate, low, high.
    pub fn entries(reading: Option<Self>) -> [Entry; 3] {
        [Self::middle, Self::low, Self::high].map(|entry| entry(reading))
    }

    /// The estimate, where there is one.
    pub fn middle(reading: Option<Self>) -> Entry {
        reading.map_or(Entry::Missing, |one| Entry::Value(one.estimate, one.unit))
    }

    /// The low end, where there is an interval.
    pub fn low(reading: Option<Self>) -> Entry {
        let end = reading.and_then(|one| Some(Entry::Value(one.low_high?.0, one.unit)));
        end.unwrap_or(Entry::Missing)
    }

    /// The high end, where there is an interval.
    pub fn high(reading: Option<Self>) -> Entry {
        let end = reading.and_then(|one| Some(Entry::Value(one.low_high?.1, one.unit)));
        end.unwrap_or(Entry::Missing)
    }
}
