//! Many comparisons, one family-wise error rate.

use std::f64::consts::PI;

use crate::open_unit;

/// Holm's adjusted p-values, in the order of the input: with the p-values sorted ascending, the
/// i-th of m (from 0) is multiplied by m - i, raised to the largest before it and capped at 1.
/// A comparison is significant at level alpha when its adjusted value is at most alpha.
/// Source: Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
/// Journal of Statistics 6(2), pp. 65-70.
///
/// Nothing in, nothing out. `None` when a value is not within [0, 1].
pub fn holm(p_values: &[f64]) -> Option<Vec<f64>> {
    if !p_values.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (before, &index) in order.iter().enumerate() {
        let factor = (p_values.len() - before) as f64;
        largest = largest.max(p_values[index] * factor).min(1.0);
        adjusted[index] = largest;
    }
    Some(adjusted)
}

/// The level of the attempt of this number (from 1), so that all attempts together err with at most
/// `alpha`, however many there will be: `alpha` · 6 / (π² · attempt²), which sums to `alpha` over
/// all numbers. Nothing is assumed of how the attempts depend on each other. Source: Tian and
/// Ramdas (2021), "Online control of the familywise error rate", Statistical Methods in Medical
/// Research 30(4), pp. 976-993, section 2 (Alpha-Spending).
///
/// `None` for the attempt 0 and an `alpha` outside (0, 1).
pub fn spent_on(attempt: u64, alpha: f64) -> Option<f64> {
    (attempt > 0 && open_unit(alpha)).then(|| alpha * 6.0 / (PI * attempt as f64).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_without_end_spend_no_more_than_there_is() {
        let each = |attempt| spent_on(attempt, 0.05).unwrap();
        assert!((each(1) - 0.05 * 0.607_927_1).abs() < 1e-8);
        assert!((each(7) - each(1) / 49.0).abs() < 1e-15);
        let spent: f64 = (1..=100_000).map(each).sum();
        assert!(spent < 0.05 && spent > 0.05 * 0.9999, "{spent}");
        assert_eq!(
            (spent_on(0, 0.05), spent_on(1, 1.0), spent_on(1, f64::NAN)),
            (None, None, None)
        );
    }

    /// As R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    #[test]
    fn four_comparisons() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]).unwrap();
        for (value, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((value - expected).abs() < 1e-15, "{adjusted:?}");
        }
    }

    #[test]
    fn capped_at_one_and_silent_on_nothing() {
        assert_eq!(holm(&[0.9, 0.8]), Some(vec![1.0, 1.0]));
        assert_eq!(holm(&[]), Some(vec![]));
        assert_eq!(holm(&[0.2]), Some(vec![0.2]));
    }

    #[test]
    fn refuses_what_is_no_probability() {
        assert_eq!(holm(&[0.1, f64::NAN]), None);
        assert_eq!(holm(&[1.1]), None);
        assert_eq!(holm(&[-0.1]), None);
    }
}
