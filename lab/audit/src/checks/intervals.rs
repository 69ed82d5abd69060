//! Confidence intervals against what they stand around.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Mismatch, Span, compare};
use crate::Printed;

/// An estimate outside of its own interval, or an observed value above the interval of a maximum.
/// `None` where it lies inside.
pub fn excludes(value: &Printed, low: &Printed, high: &Printed) -> Option<Mismatch> {
    let interval = Span::of(low).hull(Span::of(high));
    compare(value, interval, || format!("the interval from {} to {}", low.value, high.value))
}

/// Bounds in the wrong order.
pub fn reversed(low: &Printed, high: &Printed) -> bool {
    Span::of(high).below(Span::of(low))
}

/// Whether an interval reaches beyond a largest value on both sides. What was observed is known:
/// nothing can lie above it, and an interval for what might have been needs a model of the tail.
pub fn around_maximum(max: &Printed, low: &Printed, high: &Printed) -> bool {
    Span::of(low).below(Span::of(max)) && Span::of(max).below(Span::of(high))
}

/// An interval for a mean much wider or narrower than t · sd/√n. `None` where it fits, below two
/// values, or for a confidence outside of (0, 1).
///
/// Quantiles of the normal distribution and of t are both accepted and so is a third more or
/// less, for bootstrap intervals of few values differ as much.
pub fn width(
    low: &Printed,
    high: &Printed,
    sd: &Printed,
    n: usize,
    confidence: f64,
) -> Option<Mismatch> {
    if n < 2 || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let upper = 0.5 + confidence / 2.0;
    let quantile = |df: f64| StudentsT::new(0.0, 1.0, df).ok().map(|t| t.inverse_cdf(upper));
    let (student, normal) = (quantile(n as f64 - 1.0)?, quantile(1e6)?);
    let size = n as f64;
    let population = ((size - 1.0) / size).sqrt();
    let sd = Span::of(sd);
    let error = Span { low: sd.low.max(0.0) * population, high: sd.high / population };
    let half = error.times(1.0 / size.sqrt());
    let allowed =
        Span { low: 2.0 * half.low * normal / 1.5, high: 2.0 * half.high * student * 1.5 };
    let between = Span::of(high).minus(Span::of(low));
    if !allowed.is_finite() || between.meets(allowed) {
        return None;
    }
    let how = format!("2 t · sd/√n with n = {n}, allowing for half as much again");
    let stated = high.value - low.value;
    Some(Mismatch { stated, computed_low: allowed.low, computed_high: allowed.high, how })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    #[test]
    fn a_mean_lies_in_its_interval() {
        let [low, high] = ["95.1", "97.3"].map(printed);
        assert_eq!(excludes(&printed("96.2"), &low, &high), None);
        assert!(excludes(&printed("98.7"), &low, &high).is_some());
        assert!(reversed(&high, &low) && !reversed(&low, &high));
    }

    #[test]
    fn an_interval_around_a_maximum() {
        let [low, high] = ["98.1", "100.4"].map(printed);
        assert!(around_maximum(&printed("99.3"), &low, &high));
        assert!(!around_maximum(&printed("100.4"), &low, &high));
    }

    #[test]
    fn the_width_follows_from_sd_and_n() {
        // t(0.975, 9) = 2.262: 10 ± 1.43 with sd 2 and n 10.
        let fits = |low, high| width(&printed(low), &printed(high), &printed("2.00"), 10, 0.95);
        assert_eq!(fits("8.57", "11.43"), None);
        assert_eq!(fits("8.76", "11.24"), None);
        assert!(fits("9.70", "10.30").is_some());
        assert!(fits("5.00", "15.00").is_some());
        assert_eq!(width(&printed("1"), &printed("2"), &printed("1"), 1, 0.95), None);
    }
}
