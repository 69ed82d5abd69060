//! Checks as pure functions: what is stated against what its own inputs allow.
//!
//! Every check does interval arithmetic over [`Span`]s: what an input can have been before it was
//! printed. So a mismatch means that no set of values that prints like the inputs gives a result
//! that prints like what is stated, whether the printing rounded or cut off.

mod span;

pub(crate) mod bounds;
pub(crate) mod contingency;
pub(crate) mod drift;
pub(crate) mod grim;
pub(crate) mod intervals;
pub mod lattice;
pub mod moments;
pub(crate) mod order_statistics;
pub(crate) mod provenance;
pub(crate) mod ranking;
pub mod ratios;
pub(crate) mod sample_size;
pub(crate) mod tests_of_hypotheses;

pub use span::{Span, spans};

use serde::Serialize;

use crate::Printed;

/// A stated value that its inputs do not give.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mismatch {
    /// The value as printed.
    pub stated: f64,
    /// The smallest value that the inputs allow, in the unit of the stated one.
    pub computed_low: f64,
    /// The largest.
    pub computed_high: f64,
    /// How the bounds came about, for a reader who wants to do it again.
    pub how: String,
}

impl Mismatch {
    /// A stated number beside all that it could be.
    pub(crate) fn of(stated: &Printed, allowed: Span, how: String) -> Self {
        let (computed_low, computed_high) = (allowed.low, allowed.high);
        Self { stated: stated.value, computed_low, computed_high, how }
    }

    /// The middle of what the inputs allow.
    pub fn computed(&self) -> f64 {
        f64::midpoint(self.computed_low, self.computed_high)
    }

    /// How many printed steps lie between the stated value and the nearest allowed one.
    pub fn steps_off(&self, stated: &Printed) -> f64 {
        let below = self.computed_low - self.stated;
        let above = self.stated - self.computed_high;
        below.max(above).max(0.0) / (2.0 * stated.half_step())
    }
}

/// A mismatch where what is stated and what is allowed have no value in common.
fn compare(stated: &Printed, allowed: Span, how: impl FnOnce() -> String) -> Option<Mismatch> {
    // An allowed range that overflowed says nothing.
    if !allowed.is_finite() || Span::of(stated).meets(allowed) {
        return None;
    }
    Some(Mismatch::of(stated, allowed, how()))
}

/// Whether one printed number surely is smaller than another.
///
/// Rounding never turns an order round, so that two numbers printed with as many decimals stand
/// in the order of what they were; others must differ by more than their rounding hides.
fn surely_below(a: &Printed, b: &Printed) -> bool {
    if a.decimals == b.decimals && !a.approximate && !b.approximate {
        a.value < b.value
    } else {
        Span::of(a).below(Span::of(b))
    }
}

/// A number printed with so many decimals: what the tests of this module write tables with.
#[cfg(test)]
fn printed(text: &str) -> Printed {
    let decimals = text.split_once('.').map_or(0, |(_, after)| after.len() as i32);
    let value = text.parse().expect("tests print numbers");
    Printed { value, decimals, unit: None, approximate: false }
}

#[cfg(test)]
fn printed_all(text: &str) -> Vec<Printed> {
    text.split_whitespace().map(printed).collect()
}
