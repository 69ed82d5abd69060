//! Intervals, and the one for a median.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::{open_unit, sorted, usable};

/// Below this many values no interval is given, whatever the confidence: with five values not
/// even the whole range is a 95 % interval for the median (its coverage is 1 - 2/32 = 93.75 %).
pub const FEWEST_FOR_INTERVAL: usize = 6;

/// A closed interval and the confidence that it really has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end, in the unit of the sample.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The coverage attained, as a share. Ranks are whole numbers, so that it lies at or above
    /// the one asked for; for a bootstrap it is the nominal one.
    pub confidence: f64,
}

/// A distribution-free interval for the median: the order statistics x(k) and x(n+1-k) with the
/// largest k for which 1 - 2 P(Binomial(n, 1/2) < k) is still at least `confidence`.
/// Source: David and Nagaraja (2003), Order Statistics, 3rd ed., section 7.1; Conover (1999),
/// Practical Nonparametric Statistics, 3rd ed., section 3.2.
///
/// The values must be independent and from one distribution; with ties the coverage is higher
/// still. `None` for an unusable sample, for n < 6, for a `confidence` outside (0, 1), and where
/// even the whole range does not reach it (n = 6 reaches 96.9 %).
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let n = values.len();
    if n < FEWEST_FOR_INTERVAL || !usable(values) || !open_unit(confidence) {
        return None;
    }
    let binomial = Binomial::new(0.5, n as u64).ok()?;
    let below = |k: usize| binomial.cdf(k as u64);
    let (rank, confidence) = symmetric_rank(n, confidence, below)?;
    let sorted = sorted(values);
    Some(Interval { low: sorted[rank - 1], high: sorted[n - rank], confidence })
}

/// The largest rank k (from 1) with 1 - 2 `cdf`(k - 1) >= `confidence` among the ranks that leave
/// a non-empty interval in `count` ordered values, and the coverage it attains.
///
/// Every interval of this crate that is made of order statistics comes from here: of the values
/// themselves, of their Walsh averages, of all differences of two samples.
pub(crate) fn symmetric_rank(
    count: usize,
    confidence: f64,
    cdf: impl Fn(usize) -> f64,
) -> Option<(usize, f64)> {
    // Without the slack, 0.96875 asked for exactly could be refused for its last bit.
    let reaches = |rank: usize| 1.0 - 2.0 * cdf(rank - 1) >= confidence - 1e-12;
    let (mut low, mut high) = (0, count.div_ceil(2) + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reaches(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low > 0).then(|| (low, 1.0 - 2.0 * cdf(low - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(n: usize, confidence: f64) -> Option<(f64, f64, f64)> {
        let values: Vec<f64> = (1..=n).rev().map(|i| i as f64).collect();
        median_interval(&values, confidence).map(|i| (i.low, i.high, i.confidence))
    }

    /// Binomial tails that can be counted by hand.
    #[test]
    fn ranks_of_the_tables() {
        assert_eq!(ranks(5, 0.5), None);
        let (low, high, attained) = ranks(6, 0.95).unwrap();
        assert_eq!((low, high), (1.0, 6.0));
        assert!((attained - 0.96875).abs() < 1e-12);
        assert_eq!(ranks(6, 0.99), None);
        assert!(ranks(6, 0.96875).is_some());

        let (low, high, attained) = ranks(10, 0.95).unwrap();
        assert_eq!((low, high), (2.0, 9.0));
        assert!((attained - (1.0 - 22.0 / 1024.0)).abs() < 1e-12);

        let (low, high, attained) = ranks(20, 0.95).unwrap();
        assert_eq!((low, high), (6.0, 15.0));
        assert!((attained - 0.958_610_5).abs() < 1e-6);
    }

    #[test]
    fn refuses_bad_input() {
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        for confidence in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(median_interval(&six, confidence), None);
        }
        assert_eq!(median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN], 0.9), None);
    }

    #[test]
    fn a_low_confidence_gives_the_innermost_values_around_the_median() {
        for n in 6..30 {
            let (low, high, _) = ranks(n, 0.01).unwrap();
            let inner = (n / 2) as f64;
            assert_eq!((low, high), (inner, n as f64 + 1.0 - inner), "n = {n}");
        }
    }
}
