//! How often a few runs "find" a difference between identical programs.

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::resample::generator;
use crate::unpaired::welch_t;
use crate::{mean, usable};

/// How often two groups of runs of one program look like two programs, each a share of the draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// The means differ by more than the gap that was named.
    pub means_differ: f64,
    /// The best runs (the maxima, a "peak") differ by more than that gap.
    pub maxima_differ: f64,
    /// All runs of one group are above all runs of the other, which looks beyond doubt.
    pub separated: f64,
    /// Welch's test says p < 0.05; a sound test does so in about one case of twenty.
    pub welch_significant: f64,
}

/// Draws two groups of `n` values from one `pool`, with replacement, `draws` times, and counts
/// how often each reading of the numbers would have found a difference. `gap` is in the unit of
/// the values: the difference that a report would have printed as a result.
///
/// `None` for an unusable pool, no draws, `n` below 2, or a gap that is negative or not finite.
pub fn false_find_rate(pool: &[f64], n: usize, gap: f64, draws: usize, seed: u64) -> Option<Rates> {
    if !usable(pool) || n < 2 || draws == 0 || !gap.is_finite() || gap < 0.0 {
        return None;
    }
    let mut rng = generator(seed);
    let mut group =
        || -> Vec<f64> { (0..n).map(|_| pool[rng.random_range(0..pool.len())]).collect() };
    let mut counts = [0_usize; 4];
    for _ in 0..draws {
        for (count, found) in counts.iter_mut().zip(finds(&group(), &group(), gap)) {
            *count += usize::from(found);
        }
    }
    let [means_differ, maxima_differ, separated, welch_significant] =
        counts.map(|count| count as f64 / draws as f64);
    Some(Rates { means_differ, maxima_differ, separated, welch_significant })
}

/// What each reading says of two groups, in the order of [`Rates`].
fn finds(a: &[f64], b: &[f64], gap: f64) -> [bool; 4] {
    let largest = |group: &[f64]| group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = |group: &[f64]| group.iter().copied().fold(f64::INFINITY, f64::min);
    [
        (mean(a) - mean(b)).abs() > gap,
        (largest(a) - largest(b)).abs() > gap,
        smallest(a) > largest(b) || smallest(b) > largest(a),
        welch_t(a, b).is_some_and(|welch| welch.p < 0.05),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the C(10, 5) = 252 orders of ten distinct values two are separated: 0.79 %.
    #[test]
    fn five_against_five_from_one_wide_pool() {
        let pool: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 10_000.0).collect();
        let rates = false_find_rate(&pool, 5, 0.1, 20_000, 1).unwrap();
        assert!((rates.separated - 2.0 / 252.0).abs() < 0.002, "{rates:?}");
        assert!((rates.welch_significant - 0.05).abs() < 0.01, "{rates:?}");
        // The difference of two means of five uniforms has a standard deviation of
        // sqrt(2/60) = 0.183, so that 0.1 is 0.548 of it.
        assert!((rates.means_differ - 0.58).abs() < 0.02, "{rates:?}");
        assert_eq!(false_find_rate(&pool, 5, 0.1, 20_000, 1), Some(rates));
    }

    #[test]
    fn a_constant_program_never_differs() {
        let rates = false_find_rate(&[4.0; 9], 5, 0.0, 100, 1).unwrap();
        let none =
            Rates { means_differ: 0.0, maxima_differ: 0.0, separated: 0.0, welch_significant: 0.0 };
        assert_eq!(rates, none);
    }

    #[test]
    fn refuses_bad_input() {
        assert_eq!(false_find_rate(&[], 5, 0.1, 10, 0), None);
        assert_eq!(false_find_rate(&[1.0], 1, 0.1, 10, 0), None);
        assert_eq!(false_find_rate(&[1.0], 5, 0.1, 0, 0), None);
        assert_eq!(false_find_rate(&[1.0], 5, f64::NAN, 10, 0), None);
        assert_eq!(false_find_rate(&[1.0], 5, -0.1, 10, 0), None);
        assert!(false_find_rate(&[1.0], 2, 0.1, 1, 0).is_some());
    }

    #[test]
    fn a_gap_has_to_be_passed_and_groups_that_touch_are_not_separated() {
        assert_eq!(finds(&[1.0, 3.0], &[3.0, 5.0], 2.0), [false; 4]);
        assert_eq!(finds(&[1.0, 3.0], &[3.5, 5.0], 1.9), [true, true, true, false]);
        assert_eq!(finds(&[3.5, 5.0], &[1.0, 3.0], 1.9), [true, true, true, false]);
        assert_eq!(finds(&[1.0, 4.0], &[3.5, 3.6], 0.5), [true, false, false, false]);
        assert_eq!(finds(&[1.0, 1.1], &[9.0, 9.1], 20.0), [false, false, true, true]);
    }
}
