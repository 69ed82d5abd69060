//! Two variants measured apart from each other, as the published reports did it.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::resample::{Masks, SubsetSums, choose, generator};
use crate::{mean, sample_variance, usable};

/// Regroupings that [`permutation_test`] looks at: all of them up to this number, else so many
/// random ones.
const MOST_EXACT: usize = 200_000;
const SAMPLED: usize = 20_000;

/// The result of Welch's test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welch {
    /// The statistic; positive where the first sample's mean is larger.
    pub t: f64,
    /// Degrees of freedom, by Satterthwaite's formula.
    pub df: f64,
    /// Two-sided p-value.
    pub p: f64,
}

/// The two-sided p-value that the means of two samples are equal, by dealing all values anew into
/// groups of the same sizes: exact where there are at most 200,000 ways, else with 20,000 random
/// ones, counted as (k + 1)/(m + 1).
/// Source: Pitman (1937), Supplement to the Journal of the Royal Statistical Society 4(1),
/// pp. 119-130; for the count Phipson and Smyth (2010), Statistical Applications in Genetics and
/// Molecular Biology 9(1), article 39.
///
/// `None` for unusable samples.
pub fn permutation_test(a: &[f64], b: &[f64], seed: u64) -> Option<f64> {
    if !usable(a) || !usable(b) {
        return None;
    }
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let pooled: Vec<f64> = small.iter().chain(large).copied().collect();
    let centre = mean(&pooled);
    let centred: Vec<f64> = pooled.iter().map(|value| value - centre).collect();
    let most =
        if choose(pooled.len(), small.len()) <= MOST_EXACT as f64 { MOST_EXACT } else { SAMPLED };
    let masks = Masks::groups(pooled.len(), small.len(), most, &mut generator(seed));
    let sums = SubsetSums::new(&centred);
    // The difference of the means is this deviation times a constant. What is left of the total
    // after centring is rounding, and counts all the same: it would break the ties of mirrored
    // groups.
    let total: f64 = centred.iter().sum();
    let expected = total * small.len() as f64 / pooled.len() as f64;
    let observed = (centred[..small.len()].iter().sum::<f64>() - expected).abs();
    let rounding = 1e-12 * centred.iter().map(|value| value.abs()).sum::<f64>();
    let extreme = |mask: &&[u64]| (sums.sum(mask) - expected).abs() >= observed - rounding;
    Some(masks.p_value(masks.iter().filter(extreme).count()))
}

/// Welch's t-test of equal means without equal variances.
/// Source: Welch (1947), Biometrika 34(1/2), pp. 28-35; degrees of freedom by Satterthwaite
/// (1946), Biometrics Bulletin 2(6), pp. 110-114.
///
/// `None` for unusable samples, fewer than two values in one, or two constant samples, which
/// have no error to compare with.
pub fn welch_t(a: &[f64], b: &[f64]) -> Option<Welch> {
    if !usable(a) || !usable(b) || a.len().min(b.len()) < 2 {
        return None;
    }
    let error_a = sample_variance(a) / a.len() as f64;
    let error_b = sample_variance(b) / b.len() as f64;
    let error = error_a + error_b;
    let t = (mean(a) - mean(b)) / error.sqrt();
    // As shares, for the squares of tiny variances would vanish.
    let (share_a, share_b) = (error_a / error, error_b / error);
    let spread =
        share_a.powi(2) / (a.len() as f64 - 1.0) + share_b.powi(2) / (b.len() as f64 - 1.0);
    let df = 1.0 / spread;
    if !t.is_finite() || !df.is_finite() {
        return None;
    }
    let p = 2.0 * StudentsT::new(0.0, 1.0, df).ok()?.cdf(-t.abs());
    Some(Welch { t, df, p: p.min(1.0) })
}

/// Cliff's delta: the share of pairs in which `a` is larger less the share in which `b` is, from
/// -1 to 1. Source: Cliff (1993), "Dominance Statistics", Psychological Bulletin 114(3),
/// pp. 494-509.
///
/// `None` for unusable samples.
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Option<f64> {
    if !usable(a) || !usable(b) {
        return None;
    }
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
    let dominance: i64 = pairs.map(|(x, y)| i64::from(x > y) - i64::from(x < y)).sum();
    Some(dominance as f64 / (a.len() * b.len()) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extra hours of sleep under two drugs: Student (1908), and R's data set `sleep`.
    const SLEEP_1: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SLEEP_2: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    /// Permeability of chorioamnion at term and at 12-26 weeks: Hollander, Wolfe and Chicken
    /// (2014), table 4.1.
    const TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const EARLY: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    /// As R's t.test(extra ~ group, data = sleep).
    #[test]
    fn sleep_as_r_says() {
        let welch = welch_t(&SLEEP_1, &SLEEP_2).unwrap();
        assert!((welch.t - -1.860_8).abs() < 5e-5, "{welch:?}");
        assert!((welch.df - 17.776).abs() < 5e-4, "{welch:?}");
        assert!((welch.p - 0.079_39).abs() < 5e-6, "{welch:?}");
    }

    #[test]
    fn welch_refuses_what_has_no_error() {
        assert_eq!(welch_t(&[0.1; 3], &[0.7; 6]), None);
        assert_eq!(welch_t(&[1.0], &[2.0, 3.0]), None);
        assert_eq!(welch_t(&[1.0, f64::NAN], &[2.0, 3.0]), None);
        assert!(welch_t(&[1.0, 1.0], &[2.0, 3.0]).is_some());
        assert_eq!(welch_t(&[1e151, 3e151], &[2.0, 3.0]), None);
        assert_eq!(welch_t(&[2.0, 3.0], &[1e151, 3e151]), None);
        assert!(welch_t(&[1e-200, 2e-200], &[2e-200, 5e-200]).is_none_or(|w| w.p <= 1.0));
    }

    #[test]
    fn permeability_as_published() {
        // U = 35 of 50 pairs: delta = 2 * 35/50 - 1.
        assert!((cliffs_delta(&TERM, &EARLY).unwrap() - 0.4).abs() < 1e-15);
        // Three of four pairs are larger in the second, one is a tie.
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[2.0, 3.0]), Some(-0.75));
        assert_eq!(cliffs_delta(&[2.0, 3.0], &[1.0, 2.0]), Some(0.75));
        assert_eq!(cliffs_delta(&[2.0], &[f64::NAN]), None);
    }

    #[test]
    fn permutations_that_can_be_counted_by_hand() {
        let p = permutation_test(&[1.0, 2.0, 3.0], &[10.0, 11.0, 12.0], 0).unwrap();
        assert!((p - 2.0 / 20.0).abs() < 1e-15);
        let p = permutation_test(&[9.0], &[1.0, 2.0, 3.0, 4.0], 0).unwrap();
        assert!((p - 1.0 / 5.0).abs() < 1e-15);
        assert_eq!(permutation_test(&[2.0; 4], &[2.0; 5], 0), Some(1.0));
        assert_eq!(permutation_test(&[], &[1.0], 0), None);
    }

    #[test]
    fn unequal_groups_are_counted_over_all_regroupings() {
        let (a, b) = ([1.0, 2.5, 3.0, 4.25, 9.0], [2.0, 3.5, 7.0, 8.0, 11.0, 12.5]);
        let pooled = [&a[..], &b].concat();
        let apart = |mask: u32| {
            let sum = |wanted| -> f64 {
                (0..11).filter(|i| mask >> i & 1 == wanted).map(|i| pooled[i]).sum()
            };
            (sum(1) / 5.0 - sum(0) / 6.0).abs()
        };
        let ways: Vec<u32> = (0_u32..1 << 11).filter(|mask| mask.count_ones() == 5).collect();
        let observed = apart(0b1_1111);
        let extreme = ways.iter().filter(|mask| apart(**mask) >= observed - 1e-9).count();
        let expected = extreme as f64 / 462.0;
        for (a, b) in [(&a[..], &b[..]), (&b, &a)] {
            assert!((permutation_test(a, b, 0).unwrap() - expected).abs() < 1e-15, "{expected}");
        }
    }

    #[test]
    fn twenty_values_are_dealt_in_all_ways_and_more_are_sampled() {
        let apart = |each: usize| permutation_test(&vec![0.0; each], &vec![1.0; each], 0).unwrap();
        assert!((apart(10) - 2.0 / 184_756.0).abs() < 1e-15);
        assert!((apart(11) - 1.0 / 20_001.0).abs() < 1e-15);
    }

    #[test]
    fn sampled_permutations_agree_with_all_of_them() {
        let all = permutation_test(&SLEEP_1, &SLEEP_2, 0).unwrap();
        // As many values again that hardly differ push it over the limit of the exact count.
        let long = |group: &[f64]| [group, &[1.54, 1.54]].concat();
        let sampled = permutation_test(&long(&SLEEP_1), &long(&SLEEP_2), 5).unwrap();
        assert!((all - sampled).abs() < 0.015, "{all} {sampled}");
    }
}
