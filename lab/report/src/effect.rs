//! One difference between two series of runs, paired by block, and how sure it is.

use std::collections::BTreeMap;

use lab_stats::describe::median;
use lab_stats::interval::Interval;
use lab_stats::paired::hodges_lehmann;
use lab_stats::power::minimum_detectable_effect;

use crate::compare::POWER;
use crate::tables::show_with_ends;

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

    /// The smallest true difference that these blocks would have found at 5 %, power 80 %. It is
    /// simulated, so it is for the statements that stand alone and not for long tables.
    pub fn detectable(&self, seed: u64) -> Option<f64> {
        let n = self.n();
        minimum_detectable_effect(&self.differences, n, 1.0 - CONFIDENCE, POWER, seed)
    }

    /// Estimate, interval and count, as `show` writes a number.
    pub fn shown(&self, show: impl Fn(f64) -> String) -> String {
        let (estimate, n) = (show(self.estimate), self.n());
        match self.interval {
            Some(i) => {
                let shown = show_with_ends(&estimate, [&show(i.low), &show(i.high)]);
                format!("{}, n = {n})", shown.trim_end_matches(')'))
            }
            None => format!("{estimate} (no interval, n = {n})"),
        }
    }
}

/// The median over blocks.
pub fn centre(series: &Series) -> Option<f64> {
    median(&series.values().copied().collect::<Vec<_>>())
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
