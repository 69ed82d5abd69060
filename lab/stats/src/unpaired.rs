//! Two variants measured apart from each other, as the published reports did it.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{mean, open_unit, sample_variance, usable};

/// The result of Welch's test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welch {
    /// The statistic; positive where the first sample's mean is larger.
    pub t: f64,
    /// Degrees of freedom, by Satterthwaite's formula.
    pub df: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// Of the difference of the means.
    pub standard_error: f64,
}

impl Welch {
    /// What the difference of the means may be, with confidence 1 - `alpha`; `None` of an `alpha`
    /// that is no probability.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let student = StudentsT::new(0.0, 1.0, self.df).ok().filter(|_| open_unit(alpha))?;
        let quantile = student.inverse_cdf(1.0 - alpha / 2.0);
        Some([-quantile, quantile].map(|end| (self.t + end) * self.standard_error))
    }
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
    Some(Welch { t, df, p: p.min(1.0), standard_error: error.sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extra hours of sleep under two drugs: Student (1908), and R's data set `sleep`.
    const SLEEP_1: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SLEEP_2: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    /// As R's t.test(extra ~ group, data = sleep).
    #[test]
    fn sleep_as_r_says() {
        let welch = welch_t(&SLEEP_1, &SLEEP_2).unwrap();
        assert!((welch.t - -1.860_8).abs() < 5e-5, "{welch:?}");
        assert!((welch.df - 17.776).abs() < 5e-4, "{welch:?}");
        assert!((welch.p - 0.079_39).abs() < 5e-6, "{welch:?}");
        let [low, high] = welch.interval(0.05).unwrap();
        assert!((low - -3.365_5).abs() < 5e-5 && (high - 0.205_5).abs() < 5e-5, "{low} {high}");
        assert_eq!(welch.interval(1.0), None);
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
}
