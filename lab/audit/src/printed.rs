//! A number as printed: its value and how much rounding it hides.

use serde::Serialize;

/// A printed number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Printed {
    /// The value in the printed unit (`12.5%` is 12.5 with the unit `%`).
    pub value: f64,
    /// Digits after the point; negative where trailing zeros before the point carry no information
    /// (`~12k` is 12,000 with -3).
    pub decimals: i32,
    /// The unit as printed, where one is.
    pub unit: Option<String>,
    /// Marked as approximate (`~`, `about`, `≈`).
    pub approximate: bool,
}

impl Printed {
    /// Half of the last printed digit: what rounding can hide.
    pub fn half_step(&self) -> f64 {
        0.5 * 10f64.powi(-self.decimals)
    }

    /// The values that print like this, both ends included because documents round either way.
    pub fn range(&self) -> (f64, f64) {
        (self.value - self.half_step(), self.value + self.half_step())
    }
}
