//! A number as printed: its value and how much rounding it hides.

pub(crate) mod scan;
pub mod unit;

use serde::Serialize;

/// A printed number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Printed {
    /// The value in the printed unit (`12.5%` is 12.5 with the unit `%`).
    pub value: f64,
    /// Digits after the point; negative where trailing zeros before the point carry no information
    /// (`~12k` is 12,000 with -3).
    pub decimals: i32,
    /// The unit as printed, where one is, in its canonical writing (`µs` is `us`, `×` is `x`). A
    /// cell without one takes its column's.
    pub unit: Option<String>,
    /// Marked as approximate (`~`, `about`, `≈`).
    pub approximate: bool,
}

impl Printed {
    /// Reads a text that is one number and nothing else: `-1.1%`, `1,234 ms`, `~12k`, `3.4×10^5`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bare = text.trim_start_matches(['~', '≈', '∼']).trim_start();
        let chars: Vec<char> = bare.chars().collect();
        let found = scan::number(&chars, 0, scan::Setting::Cell)?;
        let approximate = bare.len() < text.len();
        (found.end == chars.len()).then_some(Self { approximate, ..found.printed })
    }

    /// Every number in a text that stands by itself, in order. Names (`p95`, `ctx2048`), dates,
    /// versions and clock times hold none.
    pub fn all(text: &str) -> Vec<Self> {
        scan::all(text)
    }

    /// Half of the last printed digit: what rounding can hide.
    pub fn half_step(&self) -> f64 {
        0.5 * 10f64.powi(-self.decimals)
    }

    /// The values that print like this, both ends included because documents round either way.
    pub fn range(&self) -> (f64, f64) {
        (self.value - self.half_step(), self.value + self.half_step())
    }
}
