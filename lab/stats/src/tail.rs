//! The tail of a candidate against the reference's, which no test of the middle can see: one run in
//! ten that is half as slow again moves the mean by 5 % and the median by nothing.
//!
//! Two conditions, both of *equivalent*: the shares of slow runs differ by less than
//! [`SHARE_MARGIN`], and the means of the runs, each counted for at most [`CAP`] medians of the
//! reference, by less than the margin or [`MEAN_MARGIN`]. Either is shown by two one-sided tests
//! (Schuirmann 1987), which need some seventy pairs without a slow run: fewer cannot tell a tail.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

use crate::interval::Interval;
use crate::unpaired::welch_t;
use crate::{mean, sample_variance, usable};

/// A run is slow above this many medians of the reference.
pub const SLOW: f64 = 1.25;
/// The shares of slow runs may differ by this.
pub const SHARE_MARGIN: f64 = 0.05;
/// A run counts for at most this many medians of the reference in the mean.
pub const CAP: f64 = 2.0;
/// The capped means may differ by this, in medians, or by the margin where that is larger.
pub const MEAN_MARGIN: f64 = 0.05;

/// What is known of a tail, as differences candidate minus reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Of the shares of slow runs; `None` on a scale without ratios.
    pub slow_share: Option<Interval>,
    /// Of the capped means, in medians of the reference; on a scale without ratios of the plain
    /// means, in the unit.
    pub mean: Interval,
    /// Whether both lie within their margins.
    pub holds: bool,
}

/// Of pairs (candidate, reference), each in medians of the reference; margins at level `alpha`.
/// `None` for an unusable sample or fewer than two pairs.
pub fn of_pairs(pairs: &[(f64, f64)], margin: f64, alpha: f64) -> Option<Tail> {
    if pairs.iter().any(|(a, b)| !usable(&[*a, *b])) {
        return None;
    }
    let slow = |(one, other): &&(f64, f64)| *one > SLOW && *other <= SLOW;
    let more = pairs.iter().filter(slow).count();
    let fewer = pairs.iter().map(|(a, b)| (*b, *a)).filter(|pair| slow(&pair)).count();
    let counts = [(more, pairs.len()), (fewer, pairs.len())];
    let capped = |(a, b): &(f64, f64)| a.min(CAP) - b.min(CAP);
    let mean = mean_interval(&pairs.iter().map(capped).collect::<Vec<_>>(), alpha)?;
    Some(decide(Some(share_interval(counts, alpha)?), mean, margin.max(MEAN_MARGIN)))
}

/// The same of two samples that were measured apart.
pub fn of_samples(a: &[f64], b: &[f64], margin: f64, alpha: f64) -> Option<Tail> {
    if !usable(a) || !usable(b) {
        return None;
    }
    let slow = |sample: &[f64]| sample.iter().filter(|value| **value > SLOW).count();
    let capped = |sample: &[f64]| sample.iter().map(|value| value.min(CAP)).collect::<Vec<_>>();
    let share = share_interval([(slow(a), a.len()), (slow(b), b.len())], alpha)?;
    let mean = mean_interval_apart(&capped(a), &capped(b), alpha)?;
    Some(decide(Some(share), mean, margin.max(MEAN_MARGIN)))
}

/// Of paired differences on a scale without ratios: the plain mean against the margin.
pub fn of_differences(differences: &[f64], margin: f64, alpha: f64) -> Option<Tail> {
    Some(decide(None, mean_interval(differences, alpha)?, margin))
}

fn decide(slow_share: Option<Interval>, mean: Interval, mean_margin: f64) -> Tail {
    let inside = |interval: Interval, margin: f64| -margin < interval.low && interval.high < margin;
    let share_holds = slow_share.is_none_or(|share| inside(share, SHARE_MARGIN));
    Tail { slow_share, mean, holds: share_holds && inside(mean, mean_margin) }
}

/// Each end of the difference of two shares at `alpha`, from exact bounds of each at half of it:
/// cautious, and right for pairs too, where the shares are of discordant pairs. Source: Clopper and
/// Pearson (1934), Biometrika 26(4), pp. 404-413.
fn share_interval([a, b]: [(usize, usize); 2], alpha: f64) -> Option<Interval> {
    let ([a_low, a_high], [b_low, b_high]) = (bounds(a, alpha / 2.0)?, bounds(b, alpha / 2.0)?);
    let confidence = 1.0 - 2.0 * alpha;
    Some(Interval { low: a_low - b_high, high: a_high - b_low, confidence })
}

/// The exact bounds of a share, each missed with probability at most `alpha`.
fn bounds((hits, of): (usize, usize), alpha: f64) -> Option<[f64; 2]> {
    let (k, n) = (hits as f64, of as f64);
    let quantile = |a, b, p| Beta::new(a, b).ok().map(|beta: Beta| beta.inverse_cdf(p));
    let low = if hits == 0 { 0.0 } else { quantile(k, n - k + 1.0, alpha)? };
    let high = if hits >= of { 1.0 } else { quantile(k + 1.0, n - k, 1.0 - alpha)? };
    Some([low, high])
}

/// Student's, of confidence 1 - 2 `alpha`.
fn mean_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    if !usable(values) || values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    around(mean(values), sample_variance(values) / n, n - 1.0, alpha)
}

/// Welch's, of confidence 1 - 2 `alpha`.
fn mean_interval_apart(a: &[f64], b: &[f64], alpha: f64) -> Option<Interval> {
    if !usable(a) || !usable(b) || a.len().min(b.len()) < 2 {
        return None;
    }
    let squared = sample_variance(a) / a.len() as f64 + sample_variance(b) / b.len() as f64;
    // Two constant samples have no error, whatever its freedom.
    let freedom = welch_t(a, b).map_or(1.0, |welch| welch.df);
    around(mean(a) - mean(b), squared, freedom, alpha)
}

fn around(centre: f64, squared_error: f64, freedom: f64, alpha: f64) -> Option<Interval> {
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - alpha);
    let half = quantile * squared_error.sqrt();
    Some(Interval { low: centre - half, high: centre + half, confidence: 1.0 - 2.0 * alpha })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many pairs, of which every `every`th candidate takes half as long again.
    fn pairs(count: usize, every: usize) -> Vec<(f64, f64)> {
        let noise = |at: usize| 1.0 + 0.001 * (at % 7) as f64;
        let slow = |at: usize| if at.is_multiple_of(every) { 0.5 } else { 0.0 };
        (0..count).map(|at| (noise(at) + slow(at), noise(at + 3))).collect()
    }

    #[test]
    fn one_slow_run_in_ten_is_not_equivalent_however_many_there_are() {
        for count in [20, 100, 10_000] {
            let tail = of_pairs(&pairs(count, 10), 0.01, 0.05).unwrap();
            assert!(!tail.holds, "{count}: {tail:?}");
        }
        let share = of_pairs(&pairs(10_000, 10), 0.01, 0.05).unwrap().slow_share.unwrap();
        assert!(0.09 < share.low && share.high < 0.11, "{share:?}");
    }

    #[test]
    fn equal_tails_need_seventy_pairs() {
        let holds = |count| of_pairs(&pairs(count, usize::MAX)[1..], 0.01, 0.05).unwrap().holds;
        assert_eq!([30, 60, 72].map(holds), [false, false, false]);
        // 1 - 0.025^(1/n) falls below 5 % at n = 72 pairs; the first is not counted here.
        assert!(holds(74) && holds(500));
    }

    #[test]
    fn bounds_as_published() {
        // Clopper and Pearson's for 4 of 20 at 95 %: 5.73 to 43.66 %.
        let [low, high] = bounds((4, 20), 0.025).unwrap();
        assert!((low - 0.057_3).abs() < 5e-5 && (high - 0.436_6).abs() < 5e-5, "{low} {high}");
        assert_eq!(bounds((0, 5), 0.05).unwrap()[0], 0.0);
        assert_eq!(bounds((5, 5), 0.05).unwrap()[1], 1.0);
    }

    /// One candidate and one reference of four are slow alone; one pair is slow together.
    #[test]
    fn slow_is_above_125_and_a_run_counts_for_at_most_two() {
        let pairs = [(1.25, 1.0), (5.0, 1.0), (1.0, 2.5), (1.3, 1.26)];
        let tail = of_pairs(&pairs, 0.01, 0.05).unwrap();
        let [low, high] = bounds((1, 4), 0.025).unwrap();
        let share = tail.slow_share.unwrap();
        assert_eq!((share.low, share.high, share.confidence), (low - high, high - low, 0.9));
        // Of 0.25, 1, -1 and 0.04: mean 0.0725, squared deviations 2.043 075, t 2.353 363.
        let half = 2.353_363 * (2.043_075_f64 / 3.0 / 4.0).sqrt();
        assert!((tail.mean.low - (0.0725 - half)).abs() < 1e-5, "{tail:?}");
        assert!((tail.mean.high - (0.0725 + half)).abs() < 1e-5, "{tail:?}");
        assert_eq!(tail.mean.confidence, 0.9);
        assert_eq!(of_pairs(&pairs[..1], 0.01, 0.05), None);
        assert_eq!(of_pairs(&[(1.0, f64::NAN), (1.0, 1.0)], 0.01, 0.05), None);
    }

    /// Two of four are slow in `a`, one of five in `b`; capped at 2.
    #[test]
    fn samples_apart_have_shares_of_their_own() {
        let (a, b) = ([1.0, 1.25, 1.5, 9.0], [1.0, 1.2, 0.8, 1.0, 3.0]);
        let tail = of_samples(&a, &b, 0.01, 0.05).unwrap();
        let ([a_low, a_high], [b_low, b_high]) =
            (bounds((2, 4), 0.025).unwrap(), bounds((1, 5), 0.025).unwrap());
        let share = tail.slow_share.unwrap();
        assert_eq!((share.low, share.high), (a_low - b_high, a_high - b_low));
        // Means 1.4375 and 1.2, squared errors 0.182 291 7 / 4 and 0.22 / 5; Welch's freedom.
        let welch = welch_t(&[1.0, 1.25, 1.5, 2.0], &[1.0, 1.2, 0.8, 1.0, 2.0]).unwrap();
        assert!((0.237_5 / welch.t - (0.182_291_7_f64 / 4.0 + 0.22 / 5.0).sqrt()).abs() < 1e-6);
        let centre = f64::midpoint(tail.mean.low, tail.mean.high);
        assert!((centre - 0.237_5).abs() < 1e-12, "{tail:?}");
        let half = (tail.mean.high - tail.mean.low) / 2.0;
        let beyond = StudentsT::new(0.0, 1.0, welch.df).unwrap().sf(half * welch.t / 0.237_5);
        assert!((beyond - 0.05).abs() < 1e-6, "{beyond}");
        assert_eq!(of_samples(&a, &[1.0], 0.01, 0.05), None);
        assert_eq!(of_samples(&a, &[f64::NAN; 3], 0.01, 0.05), None);
    }

    #[test]
    fn the_mean_may_differ_by_the_larger_margin() {
        let slower: Vec<(f64, f64)> = pairs(500, usize::MAX)[1..]
            .iter()
            .map(|(candidate, reference)| (1.08 * candidate, *reference))
            .collect();
        let holds = |margin| of_pairs(&slower, margin, 0.05).unwrap().holds;
        assert_eq!([0.01, 0.07, 0.09].map(holds), [false, false, true]);
        let (a, b): (Vec<f64>, Vec<f64>) = slower.into_iter().unzip();
        let holds = |margin| of_samples(&a, &b, margin, 0.05).unwrap().holds;
        assert_eq!([0.01, 0.07, 0.09].map(holds), [false, false, true]);
    }

    #[test]
    fn samples_apart_and_plain_differences() {
        let a: Vec<f64> = pairs(200, usize::MAX).iter().skip(1).map(|pair| pair.0).collect();
        let b: Vec<f64> = pairs(200, usize::MAX).iter().map(|pair| pair.1).collect();
        assert!(of_samples(&a, &b, 0.01, 0.05).unwrap().holds);
        let slower: Vec<f64> = pairs(200, 10).iter().map(|pair| pair.0).collect();
        assert!(!of_samples(&slower, &b, 0.01, 0.05).unwrap().holds);
        // R's t.test(c(1, 2, 4, 7), conf.level = 0.9): 0.3868 to 6.6132.
        let mean = of_differences(&[1.0, 2.0, 4.0, 7.0], 10.0, 0.05).unwrap();
        assert!((mean.mean.low - 0.386_8).abs() < 5e-5, "{mean:?}");
        assert!(mean.holds && !of_differences(&[1.0, 2.0, 4.0, 7.0], 5.0, 0.05).unwrap().holds);
        assert_eq!(of_differences(&[1.0], 5.0, 0.05), None);
        assert!(of_differences(&[1.0, 2.0], 5.0, 0.05).is_some());
        assert!(of_samples(&[1.0, 1.1], &[1.0, 1.2], 0.01, 0.05).is_some());
        // An interval that ends at the margin is not inside.
        let holds = |by: f64| of_differences(&[by; 4], 5.0, 0.05).unwrap().holds;
        assert_eq!([5.0, 4.9, -4.9, -5.0].map(holds), [false, true, true, false]);
        assert_eq!(of_samples(&[f64::NAN; 3], &b, 0.01, 0.05), None);
    }
}
