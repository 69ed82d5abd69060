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
}
