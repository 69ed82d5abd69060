//! One number read off a series of runs, on its own scale, and how sure it is.

use lab_stats::describe::median;
use lab_stats::interval::{Interval, median_interval};

pub use crate::effect::Series;
use crate::effect::{CONFIDENCE, Effect};
use crate::tables::{Entry, show};
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

    /// Not above `bound`, with the interval's confidence.
    pub fn surely_at_most(&self, bound: f64) -> bool {
        self.low_high.is_some_and(|(_, high)| high <= bound)
    }

    /// Not below `bound`, with the interval's confidence.
    pub fn surely_at_least(&self, bound: f64) -> bool {
        self.low_high.is_some_and(|(low, _)| low >= bound)
    }

    /// "0.25× (0.24× … 0.26×, n = 12)".
    pub fn text(&self) -> String {
        let shown = |value: f64| show(value, self.unit);
        let (estimate, n) = (shown(self.estimate), self.n);
        match self.low_high {
            Some((low, high)) => format!("{estimate} ({} … {}, n = {n})", shown(low), shown(high)),
            None => format!("{estimate} (no interval, n = {n})"),
        }
    }

    /// "0.25× (0.24× … 0.26×)", for tables whose caption states n.
    pub fn short(&self) -> String {
        let shown = |value: f64| show(value, self.unit);
        match self.low_high {
            Some((low, high)) => {
                format!("{} ({} … {})", shown(self.estimate), shown(low), shown(high))
            }
            None => shown(self.estimate),
        }
    }

    /// Entries of a table: estimate, low, high.
    pub fn entries(reading: Option<&Self>) -> [Entry; 3] {
        let Some(reading) = reading else {
            return [Entry::Missing, Entry::Missing, Entry::Missing];
        };
        let cell = |value: f64| Entry::Value(value, reading.unit);
        let (low, high) = match reading.low_high {
            Some((low, high)) => (cell(low), cell(high)),
            None => (Entry::Missing, Entry::Missing),
        };
        [cell(reading.estimate), low, high]
    }
}

/// "not measured" of nothing.
pub fn or_not_measured(reading: Option<&Reading>) -> String {
    reading.map_or("not measured".to_owned(), Reading::text)
}
