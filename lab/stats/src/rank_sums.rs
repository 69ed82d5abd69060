//! Null distributions of Wilcoxon's signed-rank sum and of the Mann-Whitney count.

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this size of a sample the distributions are exact; beyond it the normal approximation
/// with a continuity correction is off by less than 0.002.
const LARGEST_EXACT: usize = 50;

/// The lower tail of a symmetric distribution on 0..=`max`.
pub(crate) struct RankSum {
    cumulative: Tail,
    max: usize,
}

enum Tail {
    Exact(Vec<f64>),
    Normal { mean: f64, sd: f64 },
}

impl RankSum {
    /// Wilcoxon's W+ for `n` differences: the sum of the ranks with positive sign, each sign a
    /// fair coin. Source: Wilcoxon (1945), Biometrics Bulletin 1(6), pp. 80-83; Hollander, Wolfe
    /// and Chicken (2014), Nonparametric Statistical Methods, 3rd ed., section 3.1.
    pub(crate) fn signed(n: usize) -> RankSum {
        let max = n * (n + 1) / 2;
        if n > LARGEST_EXACT {
            let size = n as f64;
            let variance = size * (size + 1.0) * (2.0 * size + 1.0) / 24.0;
            return RankSum::normal(max, variance);
        }
        let mut mass = vec![0.0; max + 1];
        mass[0] = 1.0;
        for rank in 1..=n {
            for sum in (0..=max).rev() {
                let without = mass[sum];
                let with = if sum >= rank { mass[sum - rank] } else { 0.0 };
                mass[sum] = (without + with) / 2.0;
            }
        }
        RankSum::exact(mass)
    }

    /// Mann and Whitney's U for samples of `m` and `n`: the number of pairs in which the first is
    /// larger. By their recursion on the largest value of both samples, which belongs to the
    /// first with probability m/(m + n) and then wins n pairs: Mann and Whitney (1947), Annals of
    /// Mathematical Statistics 18(1), pp. 50-60, equation 1.
    pub(crate) fn unsigned(m: usize, n: usize) -> RankSum {
        let max = m * n;
        if m.max(n) > LARGEST_EXACT {
            let variance = max as f64 * (m + n + 1) as f64 / 12.0;
            return RankSum::normal(max, variance);
        }
        // row[j] is the distribution for (i, j), of which only i - 1 is ever needed again.
        let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
        for i in 1..=m {
            for j in 1..=n {
                let first = i as f64 / (i + j) as f64;
                let mut mass = vec![0.0; i * j + 1];
                for (u, p) in row[j].iter().enumerate() {
                    mass[u + j] += first * p;
                }
                for (u, p) in row[j - 1].iter().enumerate() {
                    mass[u] += (1.0 - first) * p;
                }
                row[j] = mass;
            }
        }
        RankSum::exact(row.swap_remove(n))
    }

    /// P(statistic <= `value`).
    pub(crate) fn cdf(&self, value: usize) -> f64 {
        if value >= self.max {
            return 1.0;
        }
        match &self.cumulative {
            Tail::Exact(cumulative) => cumulative[value],
            Tail::Normal { mean, sd } => Normal::standard().cdf((value as f64 + 0.5 - mean) / sd),
        }
    }

    fn exact(mut mass: Vec<f64>) -> RankSum {
        let mut total = 0.0;
        for p in &mut mass {
            total += *p;
            *p = total;
        }
        RankSum { max: mass.len() - 1, cumulative: Tail::Exact(mass) }
    }

    fn normal(max: usize, variance: f64) -> RankSum {
        let cumulative = Tail::Normal { mean: max as f64 / 2.0, sd: variance.sqrt() };
        RankSum { cumulative, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of critical values: P(W+ <= 8 | n = 10) = 25/1024, and 0.0242 for 52 at n = 20.
    #[test]
    fn signed_ranks_as_tabled() {
        assert!((RankSum::signed(10).cdf(8) - 25.0 / 1024.0).abs() < 1e-15);
        assert!((RankSum::signed(6).cdf(0) - 1.0 / 64.0).abs() < 1e-15);
        assert!((RankSum::signed(20).cdf(52) - 0.0242).abs() < 5e-5);
        assert_eq!(RankSum::signed(4).cdf(10), 1.0);
    }

    /// P(U <= 5 | 6, 6) = 19/924; the tabled critical value for 10 and 10 at 5 % is 23.
    #[test]
    fn unsigned_counts_as_tabled() {
        assert!((RankSum::unsigned(6, 6).cdf(5) - 19.0 / 924.0).abs() < 1e-15);
        let ten = RankSum::unsigned(10, 10);
        assert!(ten.cdf(23) <= 0.025 && ten.cdf(24) > 0.025);
        let lopsided = RankSum::unsigned(5, 10);
        assert!(lopsided.cdf(8) <= 0.025 && lopsided.cdf(9) > 0.025);
        assert!((RankSum::unsigned(1, 3).cdf(0) - 0.25).abs() < 1e-15);
    }

    #[test]
    fn the_approximation_continues_the_exact_distribution() {
        let exact = RankSum::signed(50);
        let variance = 50.0 * 51.0 * 101.0 / 24.0;
        let normal = RankSum::normal(1275, variance);
        for w in [350, 434, 500, 637, 800] {
            assert!((exact.cdf(w) - normal.cdf(w)).abs() < 2e-3, "W = {w}");
        }
        let exact = RankSum::unsigned(50, 50);
        let normal = RankSum::normal(2500, 2500.0 * 101.0 / 12.0);
        for u in [900, 966, 1100, 1250] {
            assert!((exact.cdf(u) - normal.cdf(u)).abs() < 2e-3, "U = {u}");
        }
    }
}
