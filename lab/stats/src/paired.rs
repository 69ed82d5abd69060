//! Two variants measured in the same blocks: everything is said about the differences of pairs.

use serde::{Deserialize, Serialize};

use crate::interval::{FEWEST_FOR_INTERVAL, Interval, symmetric_rank};
use crate::rank_sums::RankSum;
use crate::resample::{Masks, SubsetSums, generator};
use crate::{describe, open_unit, usable};

/// Sign patterns that [`sign_flip_test`] looks at: all of them up to 18 differences (2^17 with
/// the mirrored ones left out), else so many random ones.
const MOST_EXACT: usize = 1 << 17;
const SAMPLED: usize = 20_000;

/// How far one variant lies from the other, with the interval where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShiftEstimate {
    /// The Hodges-Lehmann estimate, in the unit of the sample.
    pub estimate: f64,
    /// Its interval; `None` below six runs and where the confidence cannot be reached.
    pub interval: Option<Interval>,
}

/// The Hodges-Lehmann estimate of the centre of paired differences, the median of all Walsh
/// averages (d_i + d_j)/2 with i <= j, and Tukey's interval from Wilcoxon's signed-rank
/// distribution, exact to n = 50 and normal beyond.
/// Source: Hodges and Lehmann (1963), Annals of Mathematical Statistics 34(2), pp. 598-611;
/// Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, 3rd ed., sections 3.2
/// (estimate) and 3.3 (interval).
///
/// The coverage holds for independent differences that are symmetric about their centre, and
/// is higher with ties. Time and memory grow as n²/2. `None` for an unusable sample or a
/// `confidence` outside (0, 1).
pub fn hodges_lehmann(differences: &[f64], confidence: f64) -> Option<ShiftEstimate> {
    if !usable(differences) || !open_unit(confidence) {
        return None;
    }
    let averages = walsh_averages(differences);
    let estimate = describe::quantile(&averages, 0.5)?;
    let null = RankSum::signed(differences.len());
    let enough = differences.len() >= FEWEST_FOR_INTERVAL;
    let interval = if enough { rank_interval(&averages, confidence, &null) } else { None };
    Some(ShiftEstimate { estimate, interval })
}

/// The two-sided p-value that the mean of paired differences is 0, by flipping their signs, each
/// of which is a fair coin when the two variants of a pair could have changed names: exact up to
/// 18 differences that are not 0, else with 20,000 random patterns, counted as (k + 1)/(m + 1).
/// Source: Fisher (1935), The Design of Experiments, section 21; for the count Phipson and Smyth
/// (2010), Statistical Applications in Genetics and Molecular Biology 9(1), article 39.
///
/// Differences of 0 cannot be flipped and change nothing; when all are 0 the p-value is 1. The
/// smallest p-value that n differences can give is 2^(1-n). `None` for an unusable sample.
pub fn sign_flip_test(differences: &[f64], seed: u64) -> Option<f64> {
    if !usable(differences) {
        return None;
    }
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if nonzero.is_empty() {
        return Some(1.0);
    }
    let patterns = 1_u128.checked_shl(nonzero.len() as u32 - 1).unwrap_or(u128::MAX);
    let most = if patterns <= MOST_EXACT as u128 { MOST_EXACT } else { SAMPLED };
    let masks = Masks::signs(nonzero.len(), most, &mut generator(seed));
    let sums = SubsetSums::new(&nonzero);
    let total: f64 = nonzero.iter().sum();
    // Patterns that tie with the data in exact arithmetic must tie here too.
    let rounding = 1e-12 * nonzero.iter().map(|d| d.abs()).sum::<f64>();
    let extreme = |mask: &&[u64]| (2.0 * sums.sum(mask) - total).abs() >= total.abs() - rounding;
    Some(masks.p_value(masks.iter().filter(extreme).count()))
}

/// All averages of two differences, each also with itself, ascending.
pub(crate) fn walsh_averages(differences: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (i, first) in differences.iter().enumerate() {
        averages.extend(differences[i..].iter().map(|second| (first + second) / 2.0));
    }
    averages.sort_unstable_by(f64::total_cmp);
    averages
}

/// The order statistics of `sorted` that the null distribution of their count allows.
pub(crate) fn rank_interval(sorted: &[f64], confidence: f64, null: &RankSum) -> Option<Interval> {
    let (rank, confidence) = symmetric_rank(sorted.len(), confidence, |k| null.cdf(k))?;
    Some(Interval { low: sorted[rank - 1], high: sorted[sorted.len() - rank], confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Darwin's cross- and self-fertilised maize, in eighths of an inch: Fisher (1935), section
    /// 21, counts 863 of 32,768 patterns at or above the sum of 314 on one side.
    const MAIZE: [f64; 15] =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

    /// Hamilton's depression scale of nine patients before and after: Hollander, Wolfe and
    /// Chicken (2014), table 3.1 and examples 3.3 and 3.4.
    const BEFORE: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    #[allow(clippy::approx_constant)] // 3.14 is a patient's score.
    const AFTER: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

    #[test]
    fn maize_as_fisher_counted() {
        let p = sign_flip_test(&MAIZE, 0).unwrap();
        assert!((p - 2.0 * 863.0 / 32_768.0).abs() < 1e-12, "{p}");
    }

    #[test]
    fn random_patterns_agree_with_all_of_them() {
        // 19 differences are sampled, and the four of 1e-9 do not matter.
        let mut nineteen = MAIZE.to_vec();
        nineteen.extend([1e-9; 4]);
        let p = sign_flip_test(&nineteen, 3).unwrap();
        assert!((p - 2.0 * 863.0 / 32_768.0).abs() < 0.006, "{p}");
        assert_eq!(sign_flip_test(&nineteen, 3), Some(p));
        assert_ne!(sign_flip_test(&nineteen, 4), Some(p));
    }

    #[test]
    fn eighteen_differences_are_exact_and_nineteen_are_sampled() {
        assert_eq!(sign_flip_test(&[1.0; 18], 0), Some(0.5_f64.powi(17)));
        assert_eq!(sign_flip_test(&[1.0; 19], 0), Some(1.0 / 20_001.0));
    }

    #[test]
    fn small_and_degenerate_samples() {
        assert_eq!(sign_flip_test(&[0.0; 7], 0), Some(1.0));
        assert_eq!(sign_flip_test(&[5.0], 0), Some(1.0));
        assert_eq!(sign_flip_test(&[0.1, 0.2, 0.3, 0.4, 0.0], 0), Some(0.125));
        assert_eq!(sign_flip_test(&[1.0, -1.0], 0), Some(1.0));
        let always = sign_flip_test(&[1.0; 200], 0).unwrap();
        assert!((always - 1.0 / 20_001.0).abs() < 1e-15);
        assert_eq!(sign_flip_test(&[], 0), None);
        assert_eq!(sign_flip_test(&[f64::NAN], 0), None);
    }

    #[test]
    fn depression_scale_as_published() {
        let differences: Vec<f64> = AFTER.iter().zip(BEFORE).map(|(y, x)| y - x).collect();
        let shift = hodges_lehmann(&differences, 0.95).unwrap();
        let interval = shift.interval.unwrap();
        assert!((shift.estimate - -0.46).abs() < 1e-12, "{shift:?}");
        assert!((interval.low - -0.786).abs() < 1e-3, "{shift:?}");
        assert!((interval.high - -0.010).abs() < 1e-3, "{shift:?}");
        assert!((interval.confidence - 0.961).abs() < 1e-3, "{shift:?}");
    }

    #[test]
    fn fewer_than_six_pairs_give_an_estimate_alone() {
        let five = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 9.0], 0.9).unwrap();
        assert_eq!((five.estimate, five.interval), (3.0, None));
        let six = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
        let interval = six.interval.unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 6.0));
        assert!((interval.confidence - (1.0 - 2.0 / 64.0)).abs() < 1e-12);
        assert_eq!(hodges_lehmann(&[1.0; 6], 0.99).unwrap().interval, None);
        assert_eq!(hodges_lehmann(&[1.0; 6], f64::NAN), None);
        assert_eq!(hodges_lehmann(&[f64::INFINITY; 6], 0.9), None);
    }
}
