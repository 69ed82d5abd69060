//! What cannot stand side by side in one row, whatever the values behind it were.

use super::{Mismatch, Span, compare};
use crate::Printed;

/// A mean outside of the smallest and the largest value. `None` where it fits.
pub fn mean_outside(mean: &Printed, min: &Printed, max: &Printed) -> Option<Mismatch> {
    let allowed = Span::of(min).hull(Span::of(max));
    compare(mean, allowed, || {
        format!("between the minimum {} and the maximum {}", min.value, max.value)
    })
}

/// Any value of the sample (median, percentile, single run) outside of its extremes.
pub fn value_outside(
    value: &Printed,
    min: Option<&Printed>,
    max: Option<&Printed>,
) -> Option<Mismatch> {
    let low = min.map_or(f64::MIN, |min| Span::of(min).low);
    let high = max.map_or(f64::MAX, |max| Span::of(max).high);
    compare(value, Span { low, high }, || "between the minimum and the maximum".to_owned())
}

/// A standard deviation (divisor n or n - 1) that no values between `min` and `max` with this
/// mean have, or that `n` values which reach both cannot stay below. `None` where it fits.
///
/// Above: variance ≤ (max - mean)(mean - min), Bhatia and Davis (2000), The American Mathematical
/// Monthly 107(4), pp. 353-357; without a mean half of the range, Popoviciu (1935), Mathematica
/// (Cluj) 9, pp. 129-145. Below: the two extremes alone contribute (max - min)²/2 to the sum of
/// squares, von Szökefalvi Nagy (1918), Jahresbericht der DMV 27, pp. 37-43.
pub fn sd_beyond(
    sd: &Printed,
    mean: Option<&Printed>,
    min: &Printed,
    max: &Printed,
    n: Option<usize>,
) -> Option<Mismatch> {
    let (low, high) = (Span::of(min), Span::of(max));
    let range = (high.high - low.low).max(0.0);
    let variance = match mean.map(Span::of) {
        // The product is largest for a mean in the middle, if the mean can lie there.
        Some(mean) => {
            let middle = f64::midpoint(low.low, high.high).clamp(mean.low, mean.high);
            ((high.high - middle) * (middle - low.low)).max(0.0)
        }
        None => range * range / 4.0,
    };
    let n = n.filter(|&n| n > 1).map(|n| n as f64);
    // Without a size, the divisor may have been n - 1 with n = 2.
    let sample = n.map_or(2.0, |n| n / (n - 1.0));
    let least = (high.low - low.high).max(0.0);
    let floor = n.map_or(0.0, |n| least / (2.0 * n).sqrt());
    let allowed = Span { low: floor, high: (variance * sample).sqrt() };
    let size = n.map_or(String::new(), |n| format!(" and {n} values"));
    compare(sd, allowed, || format!("bounds for extremes {} and {}{size}", min.value, max.value))
}

/// A mean and a median further apart than one standard deviation. `None` where they fit.
/// Source: Hotelling and Solomons (1932), The Annals of Mathematical Statistics 3(2), pp. 141-142.
pub fn mean_far_from_median(mean: &Printed, median: &Printed, sd: &Printed) -> Option<Mismatch> {
    let sd = Span::of(sd).high;
    let median_span = Span::of(median);
    let allowed = Span { low: median_span.low - sd, high: median_span.high + sd };
    compare(mean, allowed, || {
        format!("within one standard deviation of the median {}", median.value)
    })
}

/// How far a printed percentile may lie from the share that it is called by: definitions differ by
/// one value, and samples of twenty are small ones.
const BLUR: f64 = 0.05;

/// A mean that no values with these percentiles have: of every stretch between two of them, all
/// values are at least the lower and at most the upper one. `percentiles` rise with their share in
/// (0, 1). `None` where it fits, or where neither end is known.
pub fn mean_beyond_percentiles(
    mean: &Printed,
    percentiles: &[(f64, &Printed)],
    min: Option<&Printed>,
    max: Option<&Printed>,
) -> Option<Mismatch> {
    if percentiles.is_empty() {
        return None;
    }
    // As much of the mass above each percentile as its definition leaves room for.
    let high = max.map_or(f64::INFINITY, |max| {
        let (mut sum, mut from) = (0.0, 0.0);
        for (p, value) in percentiles {
            let to = (p - BLUR).max(from);
            sum += (to - from) * Span::of(value).high;
            from = to;
        }
        sum + (1.0 - from) * Span::of(max).high
    });
    let low = min.map_or(f64::NEG_INFINITY, |min| {
        let (mut sum, mut from) = (0.0, 1.0);
        for (p, value) in percentiles.iter().rev() {
            let to = (p + BLUR).min(from);
            sum += (from - to) * Span::of(value).low;
            from = to;
        }
        sum + from * Span::of(min).low
    });
    let (low, high) = (low.max(f64::MIN), high.min(f64::MAX));
    compare(mean, Span { low, high }, || "between what its percentiles leave room for".to_owned())
}

/// An extreme further from the mean than (n - 1)/√n sample standard deviations, the most that
/// one of `n` values can be. `None` where it fits or `n` is below 2.
/// Source: Samuelson (1968), Journal of the American Statistical Association 63, pp. 1522-1525.
pub fn extreme_too_far(
    extreme: &Printed,
    mean: &Printed,
    sd: &Printed,
    n: usize,
) -> Option<Mismatch> {
    if n < 2 {
        return None;
    }
    let size = n as f64;
    // A population's standard deviation is the smaller one, so it allows the larger multiple.
    let reach = Span::of(sd).high * (size - 1.0).sqrt();
    let centre = Span::of(mean);
    let allowed = Span { low: centre.low - reach, high: centre.high + reach };
    compare(extreme, allowed, || {
        format!("within √(n - 1) standard deviations of the mean, n = {n}")
    })
}

/// A range (maximum - minimum) that its extremes do not give. `None` where it fits.
pub fn range(stated: &Printed, min: &Printed, max: &Printed) -> Option<Mismatch> {
    let allowed = Span::of(max).minus(Span::of(min));
    compare(stated, allowed, || format!("{} - {}", max.value, min.value))
}

/// Two statements of one quantity that cannot be two printings of one value. `None` where they
/// can. The second is the computed value.
pub fn differ(a: &Printed, b: &Printed) -> Option<Mismatch> {
    compare(a, Span::of(b), || format!("{} as printed in the other place", b.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    #[test]
    fn a_mean_lies_within_its_extremes() {
        let [min, max] = ["84.2", "88.8"].map(printed);
        assert_eq!(mean_outside(&printed("86.0"), &min, &max), None);
        assert!(mean_outside(&printed("82.4"), &min, &max).is_some());
        assert_eq!(value_outside(&printed("88.8"), None, Some(&max)), None);
        assert!(value_outside(&printed("89.9"), None, Some(&max)).is_some());
    }

    #[test]
    fn a_standard_deviation_has_a_ceiling() {
        let [mean, min, max] = ["5.0", "0.0", "10.0"].map(printed);
        // Half of the values at each end: 5, or 5.27 with the divisor n - 1 of ten.
        assert_eq!(sd_beyond(&printed("5.3"), Some(&mean), &min, &max, Some(10)), None);
        assert!(sd_beyond(&printed("5.6"), Some(&mean), &min, &max, Some(10)).is_some());
        assert_eq!(sd_beyond(&printed("7.1"), None, &min, &max, None), None);
        assert!(sd_beyond(&printed("7.6"), None, &min, &max, None).is_some());
        let near = printed("9.0");
        assert!(sd_beyond(&printed("4.0"), Some(&near), &min, &max, Some(10)).is_some());
    }

    #[test]
    fn a_standard_deviation_has_a_floor() {
        let [mean, min, max] = ["98.0", "72.8", "99.9"].map(printed);
        // Population value of 28 equal values between the two extremes: 27.1 / √60 = 3.5.
        assert_eq!(sd_beyond(&printed("4.9"), Some(&mean), &min, &max, Some(30)), None);
        assert!(sd_beyond(&printed("2.1"), Some(&mean), &min, &max, Some(30)).is_some());
        assert_eq!(sd_beyond(&printed("2.1"), Some(&mean), &min, &max, None), None);
    }

    #[test]
    fn mean_and_median_are_one_standard_deviation_apart_at_most() {
        let [mean, median] = ["120.0", "100.0"].map(printed);
        assert_eq!(mean_far_from_median(&mean, &median, &printed("21.0")), None);
        assert!(mean_far_from_median(&mean, &median, &printed("19.0")).is_some());
    }

    #[test]
    fn a_mean_lies_between_what_its_percentiles_leave_room_for() {
        let [p25, p50, p75, p95, max] = ["4.6", "5.4", "6.0", "7.0", "9.1"].map(printed);
        let all = [(0.25, &p25), (0.5, &p50), (0.75, &p75), (0.95, &p95)];
        let beyond = |mean: &str, max: Option<&Printed>| {
            mean_beyond_percentiles(&printed(mean), &all, None, max).is_some()
        };
        assert!(beyond("8.9", Some(&max)) && !beyond("5.8", Some(&max)));
        // A tail without an end can have any mean.
        assert!(!beyond("8.9", None));
        let min = printed("4.0");
        let low =
            |mean: &str| mean_beyond_percentiles(&printed(mean), &all, Some(&min), None).is_some();
        assert!(low("4.1") && !low("5.5"));
    }

    #[test]
    fn few_values_cannot_hold_a_far_extreme() {
        let [mean, sd] = ["10.00", "1.00"].map(printed);
        assert_eq!(extreme_too_far(&printed("12.00"), &mean, &sd, 5), None);
        assert!(extreme_too_far(&printed("12.50"), &mean, &sd, 5).is_some());
        assert_eq!(extreme_too_far(&printed("12.50"), &mean, &sd, 30), None);
    }

    #[test]
    fn two_printings_of_one_value() {
        assert_eq!(differ(&printed("99.9"), &printed("99.89")), None);
        assert!(differ(&printed("99.29"), &printed("99.89")).is_some());
        assert_eq!(range(&printed("18.96"), &printed("81.03"), &printed("99.99")), None);
    }
}
