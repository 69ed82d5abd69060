//! Whether two columns move together.

use crate::{mean, usable};

/// Pearson's product-moment correlation. Source: Pearson (1896), Philosophical Transactions of
/// the Royal Society A 187, pp. 253-318.
///
/// `None` for unusable columns, columns of different lengths or fewer than two rows, and where
/// one column is constant.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    if !usable(x) || !usable(y) || x.len() != y.len() {
        return None;
    }
    let (centre_x, centre_y) = (mean(x), mean(y));
    let deviations = x.iter().zip(y).map(|(x, y)| (x - centre_x, y - centre_y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (dx, dy) in deviations {
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    // Two roots, for the product of two sums of squares may overflow.
    let r = xy / xx.sqrt() / yy.sqrt();
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Spearman's rank correlation: Pearson's of the ranks, ties at their mean rank. Source: Spearman
/// (1904), The American Journal of Psychology 15(1), pp. 72-101; ties as Kendall and Gibbons
/// (1990), Rank Correlation Methods, 5th ed., chapter 3.
///
/// `None` as for [`pearson`].
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if !usable(x) || !usable(y) {
        return None;
    }
    pearson(&mid_ranks(x), &mid_ranks(y))
}

/// Ranks from 1, equal values sharing the mean of theirs.
pub fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|&i, &j| values[i] == values[j]) {
        for &index in tied {
            ranks[index] = before as f64 + (tied.len() as f64 + 1.0) / 2.0;
        }
        before += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Anscombe (1973), first data set.
    #[test]
    fn anscombes_first() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        assert!((pearson(&x, &y).unwrap() - 0.816_420_5).abs() < 1e-6);
    }

    /// Ranks whose squared differences sum to 194: 1 - 6 * 194/990.
    #[test]
    fn ten_ranks() {
        let x = [86.0, 97.0, 99.0, 100.0, 101.0, 103.0, 106.0, 110.0, 112.0, 113.0];
        let y = [2.0, 20.0, 28.0, 27.0, 50.0, 29.0, 7.0, 17.0, 6.0, 12.0];
        assert!((spearman(&x, &y).unwrap() - -29.0 / 165.0).abs() < 1e-12);
    }

    #[test]
    fn ties_share_their_rank_and_zeros_of_both_signs_are_one() {
        assert_eq!(mid_ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(mid_ranks(&[0.0, -0.0]), [1.5, 1.5]);
    }

    #[test]
    fn refuses_what_has_no_answer() {
        assert_eq!(pearson(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(pearson(&[1.0, 2.0], &[1.0]), None);
        // Too large for sums of squares of any length: one column is enough.
        assert_eq!(pearson(&[1e151, 2e151], &[1.0, 2.0]), None);
        assert_eq!(pearson(&[1.0, 2.0], &[1e151, 2e151]), None);
        assert_eq!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
    }
}
