//! What a number can have been before it was printed.

use crate::Printed;

/// A closed interval of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// What every printed value of a row can have been.
pub fn spans(printed: &[Printed]) -> Vec<Span> {
    printed.iter().map(Span::of).collect()
}

/// Decimal arithmetic in binary leaves errors of this share of the magnitudes involved.
const SLACK: f64 = 1e-9;

impl Span {
    /// What a printed number can have been: half a step either way if it was rounded, up to a
    /// whole step further from zero if it was cut off, and two steps or a fiftieth (of two digits,
    /// a twentieth) either way if it calls itself approximate.
    ///
    /// Zeros that end a whole number of three and more digits need not be measured, so that all
    /// but two digits count as rounded: `1,200` may have been 1,249, `100` only 104.
    pub fn of(printed: &Printed) -> Self {
        let value = printed.value;
        let step = step_of(printed);
        let (toward_zero, away) = if printed.approximate {
            // Who calls three digits and more approximate means the last of them.
            let share = if value.abs() >= 100.0 * step { 0.02 } else { 0.05 };
            let wide = (2.0 * step).max(share * value.abs());
            (wide, wide)
        } else {
            (0.5 * step, step)
        };
        if value < 0.0 {
            Self::between(value - away, value + toward_zero)
        } else {
            Self::between(value - toward_zero, value + away)
        }
    }

    /// A value that is known.
    pub fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// The span between two values in either order.
    pub fn between(a: f64, b: f64) -> Self {
        Self { low: a.min(b), high: a.max(b) }
    }

    /// The value in the middle.
    pub fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// Half of the distance between its ends.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether two spans have a value in common, but for the error of binary arithmetic.
    pub fn meets(self, other: Self) -> bool {
        let reaches = |low: f64, high: f64| low <= high + SLACK * low.abs().max(high.abs());
        reaches(self.low, other.high) && reaches(other.low, self.high)
    }

    /// Whether every value here lies below every value there, by more than arithmetic's error.
    pub fn below(self, other: Self) -> bool {
        self.low < other.low && !self.meets(other)
    }

    /// The smallest span that holds both.
    pub fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether both ends are numbers.
    pub fn is_finite(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }
    }

    /// A multiple.
    pub fn times(self, factor: f64) -> Self {
        Self::between(self.low * factor, self.high * factor)
    }

    /// The product.
    pub fn by(self, other: Self) -> Self {
        let ends = [
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ];
        let low = ends.into_iter().fold(f64::INFINITY, f64::min);
        Self { low, high: ends.into_iter().fold(f64::NEG_INFINITY, f64::max) }
    }

    /// The quotient; `None` where the divisor can be zero.
    pub fn over(self, other: Self) -> Option<Self> {
        if other.low <= 0.0 && other.high >= 0.0 {
            return None;
        }
        let quotient = self.by(Self::between(1.0 / other.low, 1.0 / other.high));
        quotient.is_finite().then_some(quotient)
    }
}

/// The step between two numbers printed like this one.
fn step_of(printed: &Printed) -> f64 {
    let digits = printed.value.abs();
    let step = 2.0 * printed.half_step();
    if printed.decimals != 0 || digits < 100.0 || digits.fract() != 0.0 || digits > 1e15 {
        return step;
    }
    let keep = digits.log10().floor() - 1.0;
    let mut round = 1.0;
    while digits % (round * 10.0) == 0.0 && round * 10.0 <= 10f64.powf(keep) {
        round *= 10.0;
    }
    round
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    fn ends(text: &str) -> (f64, f64) {
        let span = Span::of(&printed(text));
        (span.low, span.high)
    }

    #[test]
    fn rounding_and_cutting_off_are_both_allowed() {
        assert_eq!(ends("12"), (11.5, 13.0));
        assert_eq!(ends("-12"), (-13.0, -11.5));
        let (low, high) = ends("0.25");
        assert!((low - 0.245).abs() < 1e-12 && (high - 0.26).abs() < 1e-12);
    }

    #[test]
    fn zeros_at_the_end_of_a_whole_number_may_be_rounding() {
        assert_eq!(ends("1200"), (1150.0, 1300.0));
        assert_eq!(ends("100"), (95.0, 110.0));
        assert_eq!(ends("1000"), (950.0, 1100.0));
        assert_eq!(ends("50"), (49.5, 51.0));
        assert_eq!(ends("1210"), (1205.0, 1220.0));
        assert_eq!(ends("1201"), (1200.5, 1202.0));
    }

    #[test]
    fn an_approximate_number_is_wide() {
        let about = Printed { approximate: true, ..printed("200") };
        assert_eq!(Span::of(&about), Span { low: 180.0, high: 220.0 });
    }

    #[test]
    fn arithmetic_keeps_the_ends() {
        let a = Span { low: 1.0, high: 2.0 };
        let b = Span { low: -4.0, high: -2.0 };
        assert_eq!(a.minus(b), Span { low: 3.0, high: 6.0 });
        assert_eq!(a.by(b), Span { low: -8.0, high: -2.0 });
        assert_eq!(a.over(b), Some(Span { low: -1.0, high: -0.25 }));
        assert_eq!(a.over(Span { low: -1.0, high: 1.0 }), None);
    }
}
