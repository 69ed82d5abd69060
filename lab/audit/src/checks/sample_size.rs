//! How many values a claim needs.

/// The fewest values among which a percentile `p` in (0, 1) is more than the largest (or, below
/// the median, the smallest) of them: 1/(1 - p). `None` for a `p` outside.
///
/// Of n values the largest estimates the percentile n/(n + 1) on average (David and Nagaraja
/// 2003, Order Statistics, 3rd ed., section 2.1), so that P99 of ten runs is a maximum with
/// another name.
pub fn percentile_needs(p: f64) -> Option<usize> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let tail = p.min(1.0 - p);
    // 1 - 0.99 is a little more than 0.01 in binary.
    Some((1.0 / tail - 1e-9).ceil() as usize)
}

/// The smallest two-sided p that a sign-flip test, a sign test or Wilcoxon's signed ranks can
/// give for `n` pairs: 2/2ⁿ, both of the most extreme assignments.
pub fn smallest_paired_p(n: usize) -> f64 {
    2f64.powi(1 - i32::try_from(n).unwrap_or(i32::MAX)).min(1.0)
}

/// The smallest two-sided p that a permutation test or Mann and Whitney's can give for samples
/// of `n1` and `n2`: 2/C(n1 + n2, n1).
pub fn smallest_unpaired_p(n1: usize, n2: usize) -> f64 {
    let (few, many) = (n1.min(n2), n1.max(n2));
    let mut ways = 1.0;
    for index in 1..=few {
        ways *= (many + index) as f64 / index as f64;
        if ways > 1e300 {
            return 0.0;
        }
    }
    (2.0 / ways).min(1.0)
}

/// The fewest values whose whole range is an interval for the median with this confidence in
/// (0, 1): 1 - 2/2ⁿ reaches it. `None` for a confidence outside. Six for 95 %.
/// Source: David and Nagaraja (2003), Order Statistics, 3rd ed., section 7.1.
pub fn median_interval_needs(confidence: f64) -> Option<usize> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    (1..=1_100).find(|&n| smallest_paired_p(n) <= 1.0 - confidence + 1e-12)
}

/// The failure rate that no failures among `n` leave open, at 95 %: 1 - 0.05^(1/n), about 3/n.
/// Source: Hanley and Lippman-Hand (1983), JAMA 249(13), pp. 1743-1745.
pub fn open_failure_rate(n: usize) -> f64 {
    if n == 0 { 1.0 } else { 1.0 - 0.05f64.powf(1.0 / n as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_percentiles_need_many_values() {
        for (p, wanted) in [(0.99, 100), (0.95, 20), (0.9, 10), (0.999, 1_000), (0.05, 20)] {
            assert_eq!(percentile_needs(p), Some(wanted), "{p}");
        }
        assert_eq!(percentile_needs(0.5), Some(2));
        assert_eq!(percentile_needs(1.0), None);
        assert_eq!(percentile_needs(f64::NAN), None);
    }

    #[test]
    fn few_pairs_have_no_small_p() {
        assert_eq!(smallest_paired_p(5), 0.0625);
        assert_eq!(smallest_paired_p(6), 0.031_25);
        assert_eq!(smallest_paired_p(0), 1.0);
        // C(6, 3) = 20.
        assert!((smallest_unpaired_p(3, 3) - 0.1).abs() < 1e-12);
        assert_eq!(smallest_unpaired_p(5_000, 5_000), 0.0);
        assert_eq!(smallest_unpaired_p(0, 7), 1.0);
    }

    #[test]
    fn a_median_needs_six_for_an_interval() {
        assert_eq!(median_interval_needs(0.95), Some(6));
        assert_eq!(median_interval_needs(0.99), Some(8));
        assert_eq!(median_interval_needs(1.0), None);
    }

    #[test]
    fn no_failures_are_not_a_rate_of_zero() {
        assert!((open_failure_rate(30) - 0.095).abs() < 0.001);
        assert_eq!(open_failure_rate(0), 1.0);
    }
}
