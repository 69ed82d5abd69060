//! What a sample looks like, before anything is compared.

use serde::{Deserialize, Serialize};

use crate::{mean, sample_variance, sorted, usable};

/// The row that a report prints for one sample, in the sample's own unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median, the mean of the two middle values when `n` is even.
    pub median: f64,
    /// Sample standard deviation (divisor n - 1); `None` below two values.
    pub sd: Option<f64>,
    /// Coefficient of variation, `sd / |mean|`, a share and not a percentage; `None` where the
    /// standard deviation is, or where the mean is 0.
    pub cv: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// 5th percentile.
    pub p5: f64,
    /// 25th percentile.
    pub p25: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 95th percentile.
    pub p95: f64,
}

/// Describes a sample; `None` for an unusable one.
pub fn summarize(values: &[f64]) -> Option<Summary> {
    if !usable(values) {
        return None;
    }
    let sorted = sorted(values);
    let mean = mean(&sorted);
    let sd = (sorted.len() > 1).then(|| sample_variance(&sorted).sqrt());
    // A mean so small that the quotient overflows says as little as a mean of 0.
    let cv = sd.map(|sd| sd / mean.abs()).filter(|cv| cv.is_finite());
    let at = |p| interpolate(&sorted, p);
    Some(Summary {
        n: sorted.len(),
        mean,
        median: at(0.5),
        sd,
        cv,
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        p5: at(0.05),
        p25: at(0.25),
        p75: at(0.75),
        p95: at(0.95),
    })
}

/// The quantile `p` in [0, 1] of values that are **already sorted** ascending, by linear
/// interpolation between the order statistics around position (n - 1)p + 1: definition 7 of
/// Hyndman and Fan (1996), "Sample Quantiles in Statistical Packages", The American Statistician
/// 50(4), p. 363; the default of R and NumPy.
///
/// `None` for an unusable or unsorted sample, or a `p` outside [0, 1].
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if !usable(sorted) || !sorted.is_sorted() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    Some(interpolate(sorted, p))
}

/// The median of values in any order; `None` for an unusable sample.
pub fn median(values: &[f64]) -> Option<f64> {
    usable(values).then(|| interpolate(&sorted(values), 0.5))
}

/// The standard deviation of a normal sample over its median absolute deviation.
pub const NORMAL_SD_PER_MAD: f64 = 1.482_602_218_505_602;

/// The median of how far values lie from their median; `None` for an unusable sample.
pub fn median_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let away: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&away)
}

fn interpolate(sorted: &[f64], p: f64) -> f64 {
    let position = (sorted.len() - 1) as f64 * p;
    let below = position.floor();
    let low = sorted[below as usize];
    let high = sorted[position.ceil() as usize];
    low + (high - low) * (position - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_ten_as_r_says() {
        let summary = summarize(&[10.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 5.0]).unwrap();
        assert_eq!((summary.n, summary.mean, summary.median), (10, 5.5, 5.5));
        assert_eq!((summary.min, summary.p25, summary.p75, summary.max), (1.0, 3.25, 7.75, 10.0));
        assert!((summary.p5 - 1.45).abs() < 1e-12 && (summary.p95 - 9.55).abs() < 1e-12);
        assert!((summary.sd.unwrap() - 3.027_650_354_097_492).abs() < 1e-12);
        assert!((summary.cv.unwrap() - 0.550_481_882_563_180_3).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_spread_and_a_zero_mean_no_cv() {
        let one = summarize(&[3.0]).unwrap();
        assert_eq!((one.sd, one.cv, one.p5, one.p95), (None, None, 3.0, 3.0));
        assert_eq!(summarize(&[-1.0, 1.0]).unwrap().cv, None);
        assert_eq!(summarize(&[0.0, 0.0]).unwrap().cv, None);
    }

    #[test]
    fn refuses_what_it_cannot_describe() {
        for bad in [vec![], vec![f64::NAN], vec![1.0, f64::INFINITY], vec![1e300]] {
            assert_eq!(summarize(&bad), None);
            assert_eq!(median(&bad), None);
            assert_eq!(quantile(&bad, 0.5), None);
        }
        assert_eq!(quantile(&[2.0, 1.0], 0.5), None);
        assert_eq!(quantile(&[1.0, 2.0], 1.5), None);
        assert_eq!(quantile(&[1.0, 2.0], f64::NAN), None);
    }
}
