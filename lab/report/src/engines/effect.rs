//! One ratio between two series of runs, paired by block, and how sure it is.

use std::collections::BTreeMap;

use lab_stats::interval::Interval;
use lab_stats::paired::hodges_lehmann;
use lab_stats::power::minimum_detectable_effect;

use crate::compare::POWER;
use crate::measure::Unit;
use crate::tables::{Cell, show, show_percent};

/// The confidence of every interval of this family's exploratory tables.
pub(super) const CONFIDENCE: f64 = 0.95;

/// A metric by block.
pub(super) type Series = BTreeMap<u32, f64>;

/// Natural logarithms of ratios within blocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effect {
    pub(super) logarithms: Vec<f64>,
    /// By Hodges and Lehmann.
    pub(super) estimate: f64,
    /// `None` below six blocks.
    pub(super) interval: Option<Interval>,
}

impl Effect {
    /// `None` of no block.
    pub(super) fn of(logarithms: Vec<f64>) -> Option<Self> {
        let shift = hodges_lehmann(&logarithms, CONFIDENCE)?;
        Some(Self { logarithms, estimate: shift.estimate, interval: shift.interval })
    }

    /// `a` over `b`, wherever both have a block.
    pub(super) fn ratio(a: &Series, b: &Series) -> Option<Self> {
        Self::of(logarithms(a, b))
    }

    pub(super) fn n(&self) -> usize {
        self.logarithms.len()
    }

    /// The ratio is above `bound` with the interval's confidence.
    pub(super) fn surely_above(&self, bound: f64) -> bool {
        self.interval.is_some_and(|interval| interval.low > bound.ln())
    }

    /// The ratio is below `bound` with the interval's confidence.
    pub(super) fn surely_below(&self, bound: f64) -> bool {
        self.interval.is_some_and(|interval| interval.high < bound.ln())
    }

    /// The same where it is one of `family` looks, by Bonferroni.
    pub(super) fn surely_below_in(&self, bound: f64, family: usize) -> bool {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / family.max(1) as f64;
        let shift = hodges_lehmann(&self.logarithms, confidence);
        let interval = shift.and_then(|shift| shift.interval);
        interval.is_some_and(|interval| interval.high < bound.ln())
    }

    /// Whether the interval reaches over a ratio.
    pub(super) fn may_be(&self, ratio: f64) -> bool {
        let over = |i: Interval| i.low <= ratio.ln() && ratio.ln() <= i.high;
        self.interval.is_some_and(over)
    }

    /// The smallest true difference that these blocks would have found at 5 %, power 80 %, in
    /// percent. It is simulated, so it is for what stands alone and not for long tables.
    pub(super) fn detectable(&self, seed: u64) -> Option<String> {
        let n = self.n();
        let least = minimum_detectable_effect(&self.logarithms, n, 1.0 - CONFIDENCE, POWER, seed);
        least.filter(|_| self.interval.is_some()).map(|least| show_percent(least.exp_m1()))
    }

    /// "1.95× (1.90× … 2.00×, n = 12)".
    pub(super) fn times(&self) -> String {
        let n = self.n();
        let shown = |value: f64| show(value.exp(), Unit::Times);
        match self.interval {
            Some(i) => {
                format!("{} ({} … {}, n = {n})", shown(self.estimate), shown(i.low), shown(i.high))
            }
            None => format!("{} (no interval, n = {n})", shown(self.estimate)),
        }
    }
}

/// Cells for a table: the ratio, low and high.
pub(super) fn as_times(effect: Option<&Effect>) -> [Cell; 3] {
    let Some(effect) = effect else { return [Cell::Missing, Cell::Missing, Cell::Missing] };
    let cell = |value: f64| Cell::Value(value.exp(), Unit::Times);
    let end = |end: fn(&Interval) -> f64| {
        effect.interval.as_ref().map_or(Cell::Missing, |interval| cell(end(interval)))
    };
    [cell(effect.estimate), end(|i| i.low), end(|i| i.high)]
}

/// ln a - ln b, wherever both are there.
pub(super) fn logarithms(a: &Series, b: &Series) -> Vec<f64> {
    let ratio = |(block, a): (&u32, &f64)| {
        let b = b.get(block).filter(|b| **b > 0.0)?;
        (*a > 0.0).then(|| (a / b).ln())
    };
    a.iter().filter_map(ratio).collect()
}
