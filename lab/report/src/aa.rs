//! A/A: a copy of a program under a second name, which nothing should tell from the first.

use lab_record::{Comparison, Pairing};
use lab_stats::paired::ShiftEstimate;

use crate::data::Data;
use crate::measure::Measured;

/// The level of the one declared A/A test per metric. Where it fails, that metric's verdicts are
/// withheld; every other A/A difference is only printed, as the measured noise.
pub const AA_LEVEL: f64 = 0.01;

/// What the twins showed on one comparison's metric and cells.
#[derive(Debug)]
pub struct AaTest {
    /// Pairs.
    pub n: usize,
    /// `None` where so few pairs could never reach [`AA_LEVEL`].
    pub p: Option<f64>,
    /// In rounds: the sequence at [`AA_LEVEL`] excludes that they are equal.
    pub excluded: bool,
    /// Twin minus original, on the comparison's scale.
    pub shift: Option<ShiftEstimate>,
    /// The true difference that it would have found with the power that all detectable differences
    /// are stated for.
    pub detectable: Option<f64>,
}

impl AaTest {
    /// Compares one twin with its original.
    pub fn of(
        measured: &[Measured],
        comparison: &Comparison,
        pairing: Pairing,
        (twin, original): (&str, &str),
        seed: u64,
    ) -> Self {
        let data = Data::of(measured, comparison, pairing, (twin, original));
        Self {
            n: data.n(),
            excluded: false,
            p: (data.enough() && data.smallest_p() <= AA_LEVEL).then(|| data.p(seed)).flatten(),
            shift: data.shift(1.0 - AA_LEVEL, seed),
            detectable: data.detectable(AA_LEVEL, seed),
        }
    }

    /// Whether the lab told two equal programs apart.
    pub fn failed(&self) -> bool {
        self.excluded || self.p.is_some_and(|p| p <= AA_LEVEL)
    }
}
