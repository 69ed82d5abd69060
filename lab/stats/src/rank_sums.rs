//! The null distribution of Wilcoxon's signed-rank sum.

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this size of a sample the distribution is exact; beyond it the normal approximation
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
        if n <= LARGEST_EXACT { RankSum::exact(n) } else { RankSum::normal(n) }
    }

    fn exact(n: usize) -> RankSum {
        let max = n * (n + 1) / 2;
        let mut mass = vec![0.0; max + 1];
        mass[0] = 1.0;
        for rank in 1..=n {
            for sum in (0..=max).rev() {
                let without = mass[sum];
                let with = if sum >= rank { mass[sum - rank] } else { 0.0 };
                mass[sum] = (without + with) / 2.0;
            }
        }
        let mut total = 0.0;
        for p in &mut mass {
            total += *p;
            *p = total;
        }
        RankSum { cumulative: Tail::Exact(mass), max }
    }

    fn normal(n: usize) -> RankSum {
        let (max, size) = (n * (n + 1) / 2, n as f64);
        let variance = size * (size + 1.0) * (2.0 * size + 1.0) / 24.0;
        let cumulative = Tail::Normal { mean: max as f64 / 2.0, sd: variance.sqrt() };
        RankSum { cumulative, max }
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

    #[test]
    fn the_approximation_continues_the_exact_distribution() {
        for n in [50, 51, 80] {
            let (exact, normal) = (RankSum::exact(n), RankSum::normal(n));
            for part in 0..=20 {
                let w = exact.max * part / 20;
                assert!((exact.cdf(w) - normal.cdf(w)).abs() < 2e-3, "n = {n}, W = {w}");
            }
        }
        assert!(matches!(RankSum::signed(50).cumulative, Tail::Exact(_)));
        assert!(matches!(RankSum::signed(51).cumulative, Tail::Normal { .. }));
    }
}
