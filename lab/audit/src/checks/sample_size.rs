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
    }
}
