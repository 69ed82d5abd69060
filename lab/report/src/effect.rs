//! One difference between two series of runs, paired by block, and how sure it is.

use std::collections::BTreeMap;

use lab_stats::interval::Interval;
use lab_stats::paired::hodges_lehmann;
use lab_stats::power::minimum_detectable_effect;

use crate::compare::POWER;
use crate::tables::{Entry, show, show_percent};
use lab_family::Unit;

/// The confidence of every interval of the exploratory tables.
pub const CONFIDENCE: f64 = 0.95;

/// A metric by block.
pub type Series = BTreeMap<u32, f64>;

/// Paired differences, by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// One for each block.
    pub differences: Vec<f64>,
    /// By Hodges and Lehmann.
    pub estimate: f64,
    /// `None` below six blocks.
    pub interval: Option<Interval>,
}

impl Effect {
    /// `None` of no difference.
    pub fn of(differences: Vec<f64>) -> Option<Self> {
        let shift = hodges_lehmann(&differences, CONFIDENCE)?;
        Some(Self { differences, estimate: shift.estimate, interval: shift.interval })
    }

    /// Natural logarithm of `a` over `b`, within blocks.
    pub fn log_ratio(a: &Series, b: &Series) -> Option<Self> {
        Self::of(log_ratios(a, b).into_values().collect())
    }

    /// `a` minus `b`, within blocks.
    pub fn difference(a: &Series, b: &Series) -> Option<Self> {
        Self::of(minus(a, b).into_values().collect())
    }

    /// Blocks.
    pub fn n(&self) -> usize {
        self.differences.len()
    }

    /// Above `bound` with the interval's confidence.
    pub fn surely_above(&self, bound: f64) -> bool {
        self.interval.is_some_and(|interval| interval.low > bound)
    }

    /// Below `bound` with the interval's confidence.
    pub fn surely_below(&self, bound: f64) -> bool {
        self.interval.is_some_and(|interval| interval.high < bound)
    }

    /// The same where it is one of `family` looks, by Bonferroni.
    pub fn surely_below_in(&self, bound: f64, family: usize) -> bool {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / family.max(1) as f64;
        let shift = hodges_lehmann(&self.differences, confidence);
        shift.and_then(|shift| shift.interval).is_some_and(|interval| interval.high < bound)
    }

    /// Whether the interval reaches over a value.
    pub fn may_be(&self, value: f64) -> bool {
        self.interval.is_some_and(|interval| interval.low <= value && value <= interval.high)
    }

    /// The smallest true difference that these blocks would have found at 5 %, power 80 %. It is
    /// simulated, so it is for the statements that stand alone and not for long tables.
    pub fn detectable(&self, seed: u64) -> Option<f64> {
        let n = self.n();
        minimum_detectable_effect(&self.differences, n, 1.0 - CONFIDENCE, POWER, seed)
    }

    /// "+12.0 % (+10.0 % … +14.0 %, n = 12)" of a logarithm.
    pub fn percent(&self) -> String {
        self.shown(|value| show_percent(value.exp_m1()))
    }

    /// "1.95× (1.90× … 2.00×, n = 12)" of a logarithm.
    pub fn times(&self) -> String {
        self.shown(|value| show(value.exp(), Unit::Times))
    }

    /// "12 µs (…)" of a difference.
    pub fn ns(&self) -> String {
        self.shown(|value| show(value, Unit::Ns))
    }

    /// Estimate, interval and count, as `show` writes a number.
    pub fn shown(&self, show: impl Fn(f64) -> String) -> String {
        let (estimate, n) = (show(self.estimate), self.n());
        match self.interval {
            Some(i) => format!("{estimate} ({} … {}, n = {n})", show(i.low), show(i.high)),
            None => format!("{estimate} (no interval, n = {n})"),
        }
    }
}

/// Entries of a table: estimate, low and high of a ratio, as multiples.
pub fn as_times(effect: Option<&Effect>) -> [Entry; 3] {
    let Some(effect) = effect else { return [Entry::Missing, Entry::Missing, Entry::Missing] };
    let cell = |value: f64| Entry::Value(value.exp(), Unit::Times);
    let end = |end: fn(&Interval) -> f64| {
        effect.interval.as_ref().map_or(Entry::Missing, |interval| cell(end(interval)))
    };
    [cell(effect.estimate), end(|i| i.low), end(|i| i.high)]
}

/// ln a - ln b, wherever both are there.
pub fn log_ratios(a: &Series, b: &Series) -> Series {
    let ratio = |(block, a): (&u32, &f64)| {
        let b = b.get(block).filter(|b| **b > 0.0)?;
        (*a > 0.0).then(|| (*block, (a / b).ln()))
    };
    a.iter().filter_map(ratio).collect()
}

/// a - b, wherever both are there.
pub fn minus(a: &Series, b: &Series) -> Series {
    a.iter().filter_map(|(block, a)| Some((*block, a - b.get(block)?))).collect()
}

/// Every value times `factor`.
pub fn scaled(series: &Series, factor: f64) -> Series {
    series.iter().map(|(block, value)| (*block, value * factor)).collect()
}
