//! One number read off a series of runs, on its own scale, and how sure it is.

use lab_stats::describe::median;
use lab_stats::interval::{Interval, median_interval};

pub(crate) use crate::effect::Series;
use crate::effect::{CONFIDENCE, Effect};
use crate::measure::Unit;
use crate::tables::{Cell, show};

/// An estimate over blocks, with its interval where there are six of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    pub(crate) estimate: f64,
    pub(crate) low_high: Option<(f64, f64)>,
    pub(crate) n: usize,
    pub(crate) unit: Unit,
}

impl Reading {
    /// The median over blocks, its interval by order statistics.
    pub(crate) fn level(series: &Series, unit: Unit) -> Option<Self> {
        let values: Vec<f64> = series.values().copied().collect();
        let interval = median_interval(&values, CONFIDENCE);
        Some(Self {
            estimate: median(&values)?,
            low_high: interval.map(|interval| (interval.low, interval.high)),
            n: values.len(),
            unit,
        })
    }

    /// `a` over `b` within blocks, by Hodges and Lehmann on logarithms. `None` where no block has
    /// both above 0.
    pub(crate) fn ratio(a: &Series, b: &Series) -> Option<Self> {
        let effect = Effect::log_ratio(a, b)?;
        let ends = |interval: Interval| (interval.low.exp(), interval.high.exp());
        Some(Self {
            estimate: effect.estimate.exp(),
            low_high: effect.interval.map(ends),
            n: effect.n(),
            unit: Unit::Times,
        })
    }

    /// Not above `bound`, with the interval's confidence.
    pub(crate) fn surely_at_most(&self, bound: f64) -> bool {
        self.low_high.is_some_and(|(_, high)| high <= bound)
    }

    /// Not below `bound`, with the interval's confidence.
    pub(crate) fn surely_at_least(&self, bound: f64) -> bool {
        self.low_high.is_some_and(|(low, _)| low >= bound)
    }

    /// "0.25× (0.24× … 0.26×, n = 12)".
    pub(crate) fn text(&self) -> String {
        let shown = |value: f64| show(value, self.unit);
        let (estimate, n) = (shown(self.estimate), self.n);
        match self.low_high {
            Some((low, high)) => format!("{estimate} ({} … {}, n = {n})", shown(low), shown(high)),
            None => format!("{estimate} (no interval, n = {n})"),
        }
    }

    /// "0.25× (0.24× … 0.26×)", for tables whose caption states n.
    pub(crate) fn short(&self) -> String {
        let shown = |value: f64| show(value, self.unit);
        match self.low_high {
            Some((low, high)) => {
                format!("{} ({} … {})", shown(self.estimate), shown(low), shown(high))
            }
            None => shown(self.estimate),
        }
    }

    /// Cells for a table: estimate, low, high.
    pub(crate) fn cells(reading: Option<&Self>) -> [Cell; 3] {
        let Some(reading) = reading else { return [Cell::Missing, Cell::Missing, Cell::Missing] };
        let cell = |value: f64| Cell::Value(value, reading.unit);
        let (low, high) = match reading.low_high {
            Some((low, high)) => (cell(low), cell(high)),
            None => (Cell::Missing, Cell::Missing),
        };
        [cell(reading.estimate), low, high]
    }
}

/// "not measured" of nothing.
pub(crate) fn or_not_measured(reading: Option<&Reading>) -> String {
    reading.map_or("not measured".to_owned(), Reading::text)
}
