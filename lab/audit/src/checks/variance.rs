//! Spreads that are too equal or too small for what they are spreads of.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::Span;

/// Standard deviations that are more alike than repeated sampling makes them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TooEqual {
    /// How far they lie apart: the standard deviation of their logarithms, rounding included.
    pub spread: f64,
    /// How far samples of this size from one normal distribution would.
    pub expected: f64,
    /// The chance of lying so close or closer.
    pub p: f64,
}

/// A group that hardly varies while others of its kind do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pinned {
    /// Index of the group.
    pub group: usize,
    /// Its coefficient of variation.
    pub cv: f64,
    /// The median coefficient of variation of the other groups.
    pub others: f64,
}

/// Whether printed standard deviations of groups of `n` values each lie closer together than
/// samples from normal distributions of equal spread would. `None` below four groups or two
/// values, or where one can be zero.
///
/// The logarithm of s² has the variance ψ₁((n - 1)/2) (Bartlett and Kendall 1946, Supplement to
/// the Journal of the Royal Statistical Society 8(1), pp. 128-138); the sum of squares over it is
/// compared with χ² from the left. Unequal true spreads and heavy tails only push the other way.
/// That too little variation of spreads betrays made-up data: Simonsohn (2013), Psychological
/// Science 24(10), pp. 1875-1888.
pub fn too_equal(sds: &[Span], n: usize) -> Option<TooEqual> {
    if sds.len() < 4 || n < 2 || sds.iter().any(|sd| sd.low <= 0.0 || !sd.is_finite()) {
        return None;
    }
    let logs = |end: fn(&Span) -> f64| sds.iter().map(end).map(f64::ln).collect::<Vec<_>>();
    let (low, middle, high) = (logs(|sd| sd.low), logs(|sd| sd.middle()), logs(|sd| sd.high));
    let groups = sds.len() as f64;
    let centre = middle.iter().sum::<f64>() / groups;
    // Every one as far out as its rounding lets it be: equal in print is not equal.
    let squares: f64 = low
        .iter()
        .zip(&high)
        .map(|(low, high)| (centre - low).abs().max((high - centre).abs()).powi(2))
        .sum();
    let expected = trigamma((n as f64 - 1.0) / 2.0) / 4.0;
    let p = ChiSquared::new(groups - 1.0).ok()?.cdf(squares / expected);
    Some(TooEqual { spread: (squares / (groups - 1.0)).sqrt(), expected: expected.sqrt(), p })
}

/// Groups whose coefficient of variation is below a fiftieth of what the others' is at the
/// median and below a thousandth itself: pinned by the metric's definition, not by calm.
/// Groups with fewer than three values, or a mean of zero, are left out; at least three must be
/// left.
pub fn pinned(groups: &[&[f64]]) -> Vec<Pinned> {
    let summaries = groups.iter().enumerate().filter(|(_, values)| values.len() >= 3);
    let spreads: Vec<(usize, f64)> = summaries
        .filter_map(|(index, values)| Some((index, lab_stats::describe::summarize(values)?.cv?)))
        .collect();
    if spreads.len() < 3 {
        return Vec::new();
    }
    let judge = |&(group, cv): &(usize, f64)| {
        let others: Vec<f64> =
            spreads.iter().filter(|(index, _)| *index != group).map(|(_, cv)| *cv).collect();
        let others = lab_stats::describe::median(&others)?;
        (cv < 1e-3 && cv < others / 50.0).then_some(Pinned { group, cv, others })
    };
    spreads.iter().filter_map(judge).collect()
}

/// How many values of a sample that was measured to many digits stand there more than once, and
/// how many to expect if it was measured at all: pairs n(n - 1)/2 over the number of steps in its
/// interquartile range. `None` below eight values or without spread.
pub fn repeated(values: &[f64], step: f64) -> Option<(usize, f64)> {
    let summary = lab_stats::describe::summarize(values)?;
    let range = summary.p75 - summary.p25;
    if values.len() < 8 || range <= 0.0 || step <= 0.0 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let stretches = sorted.chunk_by(|a, b| b - a < step / 2.0);
    let equal = stretches.map(|tied| tied.len() * (tied.len() - 1) / 2).sum();
    let n = values.len() as f64;
    Some((equal, n * (n - 1.0) / 2.0 * step / range))
}

/// ψ₁ by its recurrence and asymptotic series. Source: Abramowitz and Stegun (1964), Handbook of
/// Mathematical Functions, 6.4.6 and 6.4.12.
fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 8.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    sum + inverse
        + square / 2.0
        + inverse * square * (1.0 / 6.0 - square / 30.0 + square * square / 42.0)
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution, Normal};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::checks::{printed_all, spans};

    #[test]
    fn trigamma_at_one_and_a_half() {
        assert!((trigamma(1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-9);
        assert!((trigamma(0.5) - std::f64::consts::PI.powi(2) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn real_spreads_differ_and_invented_ones_do_not() {
        let mut random = Pcg64::new(7, 1);
        let normal = Normal::new(100.0, 5.0).unwrap();
        let mut low = 0;
        for _ in 0..500 {
            let sds: Vec<Span> = (0..8)
                .map(|_| {
                    let values: Vec<f64> = (0..10).map(|_| normal.sample(&mut random)).collect();
                    Span::exact(lab_stats::describe::summarize(&values).unwrap().sd.unwrap())
                })
                .collect();
            low += usize::from(too_equal(&sds, 10).unwrap().p < 0.01);
        }
        assert!(low <= 12, "{low} of 500 below 0.01");
        let invented = spans(&printed_all("1.201 1.204 1.199 1.203 1.202 1.200 1.205 1.198"));
        assert!(too_equal(&invented, 10).unwrap().p < 1e-6);
        // Equal only because of the rounding.
        assert!(too_equal(&spans(&printed_all("1 1 1 1 1 1")), 5).unwrap().p > 0.05);
        assert_eq!(too_equal(&invented[..3], 10), None);
        assert_eq!(too_equal(&spans(&printed_all("0 1 2 3")), 10), None);
    }

    #[test]
    fn a_pinned_group_is_named() {
        let (a, b, c) = ([98.1, 97.2, 99.9], [94.0, 96.4, 99.1], [49.997, 49.998, 49.997]);
        let found = pinned(&[&a, &b, &c]);
        assert_eq!(found.iter().map(|pinned| pinned.group).collect::<Vec<_>>(), [2]);
        assert!(pinned(&[&a, &b, &a]).is_empty());
        assert!(pinned(&[&c, &c, &c]).is_empty());
    }

    #[test]
    fn copies_are_counted() {
        let values = [1.001, 1.105, 1.207, 1.207, 1.310, 1.207, 1.411, 1.502];
        let (equal, expected) = repeated(&values, 0.001).unwrap();
        assert_eq!(equal, 3);
        assert!(expected < 0.3, "{expected}");
        assert_eq!(repeated(&values[..5], 0.001), None);
    }
}
