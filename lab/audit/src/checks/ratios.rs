//! Changes, differences and ratios of two printed values, and the mistakes that explain a wrong
//! one.

use serde::Serialize;

use super::{Mismatch, Span, compare};
use crate::Printed;

/// A number that can be made of a `new` value and a `base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// 100 (new - base) / base.
    PercentChange,
    /// 100 (new - base) / new: on the other base.
    PercentOfOther,
    /// 100 (base - new) / base: the sign reversed.
    PercentReversed,
    /// 100 (base - new) / new: the other base and the sign reversed, what a speed-up is to times.
    PercentReversedOfOther,
    /// new - base: a difference, also of percentages.
    Difference,
    /// base - new.
    DifferenceReversed,
    /// new / base.
    Ratio,
    /// base / new.
    RatioReversed,
    /// 100 new / base.
    RatioInPercent,
    /// 100 base / new.
    RatioReversedInPercent,
    /// 100 (new - base) / mean of both.
    PercentOfMean,
}

use Reading::{
    Difference, DifferenceReversed, PercentChange, PercentOfMean, PercentOfOther, PercentReversed,
    PercentReversedOfOther, Ratio, RatioInPercent, RatioReversed, RatioReversedInPercent,
};

/// Every reading, the plainest first.
pub const READINGS: [Reading; 11] = [
    PercentChange,
    Difference,
    Ratio,
    PercentOfOther,
    PercentReversed,
    PercentReversedOfOther,
    DifferenceReversed,
    RatioReversed,
    RatioInPercent,
    RatioReversedInPercent,
    PercentOfMean,
];

impl Reading {
    /// What it can be; `None` where it would divide by what can be zero.
    pub fn of(self, new: Span, base: Span) -> Option<Span> {
        // new/base - 1 instead of (new - base)/base: each input stands once, so the bounds are
        // sharp.
        let less_one = |quotient: Span| quotient.minus(Span::exact(1.0)).times(100.0);
        match self {
            PercentChange => new.over(base).map(less_one),
            PercentReversedOfOther => base.over(new).map(less_one),
            PercentOfOther => base.over(new).map(|quotient| less_one(quotient).times(-1.0)),
            PercentReversed => new.over(base).map(|quotient| less_one(quotient).times(-1.0)),
            Difference => Some(new.minus(base)),
            DifferenceReversed => Some(base.minus(new)),
            Ratio => new.over(base),
            RatioReversed => base.over(new),
            RatioInPercent => new.over(base).map(|quotient| quotient.times(100.0)),
            RatioReversedInPercent => base.over(new).map(|quotient| quotient.times(100.0)),
            PercentOfMean => new.minus(base).over(new.plus(base)).map(|share| share.times(200.0)),
        }
    }

    /// Its formula, for people.
    pub fn formula(self) -> &'static str {
        match self {
            PercentChange => "100 · (new - base) / base",
            PercentOfOther => "100 · (new - base) / new",
            PercentReversed => "100 · (base - new) / base",
            PercentReversedOfOther => "100 · (base - new) / new",
            Difference => "new - base",
            DifferenceReversed => "base - new",
            Ratio => "new / base",
            RatioReversed => "base / new",
            RatioInPercent => "100 · new / base",
            RatioReversedInPercent => "100 · base / new",
            PercentOfMean => "100 · (new - base) / mean of both",
        }
    }
}

/// A number that is called one of `accepted` and is none of them. `None` where one fits, or none
/// can be computed.
///
/// What stands closest is reported as the computed value. Which readings to accept depends on
/// the words: "vs base, change" takes [`Reading::PercentChange`] alone, "x % faster" also
/// [`Reading::PercentReversed`] and [`Reading::PercentReversedOfOther`].
pub fn wrong_ratio(
    stated: &Printed,
    new: Span,
    base: Span,
    accepted: &[Reading],
) -> Option<Mismatch> {
    let misses = accepted.iter().filter_map(|&reading| {
        let value = reading.of(new, base)?;
        Some((reading, value, compare(stated, value, || how(reading, new, base))))
    });
    let misses: Vec<_> = misses.collect();
    if misses.iter().any(|(_, _, mismatch)| mismatch.is_none()) {
        return None;
    }
    let distance = |value: &Span| (value.middle() - stated.value).abs();
    let closest = misses.into_iter().min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)))?;
    closest.2
}

fn how(reading: Reading, new: Span, base: Span) -> String {
    format!("{} with new {} and base {}", reading.formula(), show(new), show(base))
}

/// A span without the digits that interval arithmetic adds.
fn show(span: Span) -> String {
    let digits =
        |value: f64| format!("{value:.6}").trim_end_matches('0').trim_end_matches('.').to_owned();
    if span.low == span.high {
        digits(span.low)
    } else {
        format!("in [{}, {}]", digits(span.low), digits(span.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    fn span(text: &str) -> Span {
        Span::of(&printed(text))
    }

    fn change(stated: &str, new: &str, base: &str) -> Option<Mismatch> {
        wrong_ratio(&printed(stated), span(new), span(base), &[PercentChange])
    }

    #[test]
    fn changes_that_fit() {
        assert_eq!(change("-1.1", "255.26", "258.17"), None);
        assert_eq!(change("30", "259.26", "199.60"), None);
        assert_eq!(change("15.6", "383.64", "331.91"), None);
    }

    #[test]
    fn several_readings_may_be_meant() {
        let faster = [PercentReversed, PercentReversedOfOther];
        let fault = |stated| wrong_ratio(&printed(stated), span("204.4"), span("234.3"), &faster);
        assert_eq!(fault("12.8"), None);
        assert_eq!(fault("14.6"), None);
        let wrong = fault("18.0").unwrap();
        assert!((wrong.computed() - 14.6).abs() < 0.1, "{wrong:?}");
    }

    #[test]
    fn nothing_is_said_about_a_base_of_zero() {
        assert_eq!(change("50", "3", "0"), None);
    }
}
