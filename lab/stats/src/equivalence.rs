//! Evidence that a difference is too small to matter, which "not significant" never is.

use serde::{Deserialize, Serialize};

use crate::interval::{FEWEST_FOR_INTERVAL, Interval};
use crate::paired::{rank_interval, walsh_averages};
use crate::rank_sums::RankSum;
use crate::usable;

/// The result of two one-sided tests against a margin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Equivalence {
    /// The larger of the two one-sided p-values.
    pub p: f64,
    /// The rank interval of confidence 1 - 2 alpha, 90 % at alpha = 5 %; `None` where so few
    /// values cannot reach it.
    pub interval: Option<Interval>,
    /// Whether that interval lies strictly inside the margin, on both sides.
    pub holds: bool,
}

/// Whether paired differences are centred within ±`margin`, by two one-sided signed-rank tests
/// at level `alpha`. That is the same as asking whether the Hodges-Lehmann interval of confidence
/// 1 - 2 `alpha` lies strictly inside the margin, and `holds` is decided by the interval.
/// Source: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15(6),
/// pp. 657-680; with ranks, Hauschke, Steinijans and Diletti (1990), International Journal of
/// Clinical Pharmacology 28(2), pp. 72-78.
///
/// `margin` is in the unit of the differences. `None` for an unusable sample, fewer than six
/// differences, a margin that is not positive and finite, or an `alpha` outside (0, 0.5).
pub fn equivalent(differences: &[f64], margin: f64, alpha: f64) -> Option<Equivalence> {
    let enough = differences.len() >= FEWEST_FOR_INTERVAL;
    if !enough || !usable(differences) || !sensible(margin, alpha) {
        return None;
    }
    let null = RankSum::signed(differences.len());
    Some(decide(&walsh_averages(differences), &null, margin, alpha))
}

fn sensible(margin: f64, alpha: f64) -> bool {
    margin > 0.0 && margin.is_finite() && alpha > 0.0 && alpha < 0.5
}

/// Decides on sorted Walsh averages. The statistic of the one-sided
/// test against a bound is how many of them lie at it or beyond.
fn decide(sorted: &[f64], null: &RankSum, margin: f64, alpha: f64) -> Equivalence {
    let above = sorted.iter().filter(|value| **value >= margin).count();
    let below = sorted.iter().filter(|value| **value <= -margin).count();
    let interval = rank_interval(sorted, 1.0 - 2.0 * alpha, null);
    let holds = interval.is_some_and(|i| i.low > -margin && i.high < margin);
    Equivalence { p: null.cdf(above.max(below)), interval, holds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_close_pairs_are_equivalent_and_say_how_surely() {
        let close = [-0.2, 0.1, 0.3, -0.1, 0.2, -0.3];
        let found = equivalent(&close, 0.5, 0.05).unwrap();
        // No Walsh average is beyond the margin: P(W+ = 0) = 1/64, far inside 5 %.
        assert!(found.holds && (found.p - 1.0 / 64.0).abs() < 1e-15, "{found:?}");
        assert!(!equivalent(&close, 0.1, 0.05).unwrap().holds);
    }

    #[test]
    fn a_shift_on_either_side_is_not_equivalent() {
        for sign in [-1.0, 1.0] {
            let far: Vec<f64> = (0..10).map(|i| sign * (2.0 + 0.1 * f64::from(i))).collect();
            let found = equivalent(&far, 1.0, 0.05).unwrap();
            assert!(!found.holds && found.p == 1.0, "{found:?}");
        }
    }

    #[test]
    fn the_bound_itself_is_outside() {
        assert!(!equivalent(&[1.0; 8], 1.0, 0.05).unwrap().holds);
        assert!(equivalent(&[1.0; 8], 1.001, 0.05).unwrap().holds);
    }

    #[test]
    fn refuses_bad_input() {
        let six = [0.1; 6];
        assert_eq!(equivalent(&six[..5], 1.0, 0.05), None);
        for (margin, alpha) in [(0.0, 0.05), (f64::NAN, 0.05), (1.0, 0.5), (1.0, f64::NAN)] {
            assert_eq!(equivalent(&six, margin, alpha), None);
        }
        // 1 - 2 * 0.001 is beyond six pairs: a p-value, but no interval and no claim.
        let strict = equivalent(&six, 1.0, 0.001).unwrap();
        assert_eq!((strict.interval, strict.holds), (None, false));
    }
}
