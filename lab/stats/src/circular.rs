//! Whether values lie on a lattice: their phases, modulo a period, on the circle.

use serde::{Deserialize, Serialize};

use crate::usable;

/// How values lie modulo a period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Number of values.
    pub n: usize,
    /// The mean resultant length, from 0 (anywhere) to 1 (all at one phase).
    pub resultant: f64,
    /// The mean direction as a value in [0, period), in the unit of the values.
    pub offset: f64,
    /// Rayleigh's test of uniform phases.
    pub p: f64,
}

/// The phases of `values` modulo `period`, and Rayleigh's test that they are uniform. Source of
/// the statistic: Mardia and Jupp (2000), Directional Statistics, section 6.3.1; of the p-value:
/// Zar (1999), Biostatistical Analysis, 4th ed., equation 27.4, as in Berens (2009), "CircStat",
/// Journal of Statistical Software 31(10).
///
/// Values that lie closer together than the period have one phase whatever made them: compare
/// the resultant with [`resultant_of_normal`]. `None` for an unusable sample, fewer than two
/// values, or a period that is not above 0.
pub fn rayleigh(values: &[f64], period: f64) -> Option<Phases> {
    if values.len() < 2 || !usable(values) || !period.is_finite() || period <= 0.0 {
        return None;
    }
    let (mut x, mut y) = (0.0, 0.0);
    for value in values {
        let (sine, cosine) = (std::f64::consts::TAU * (value / period).rem_euclid(1.0)).sin_cos();
        x += cosine;
        y += sine;
    }
    let n = values.len() as f64;
    let length = x.hypot(y).min(n);
    let exponent = (1.0 + 4.0 * n + 4.0 * (n * n - length * length)).sqrt() - (1.0 + 2.0 * n);
    Some(Phases {
        n: values.len(),
        resultant: length / n,
        offset: (y.atan2(x) / std::f64::consts::TAU).rem_euclid(1.0) * period,
        p: exponent.exp().min(1.0),
    })
}

/// The resultant that normally distributed values of this standard deviation have modulo a period,
/// exp(-2π²sd²/period²): what a lattice has to exceed. Source: Mardia and Jupp (2000), section
/// 3.5.7 (the wrapped normal distribution).
pub fn resultant_of_normal(sd: f64, period: f64) -> f64 {
    (-2.0 * (std::f64::consts::PI * sd / period).powi(2)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comb_has_one_phase_and_an_even_spread_none() {
        let comb: Vec<f64> = (0..40).map(|k| 8.0 + 50.0 * f64::from(k % 4)).collect();
        let found = rayleigh(&comb, 50.0).unwrap();
        assert!((found.resultant - 1.0).abs() < 1e-12 && (found.offset - 8.0).abs() < 1e-9);
        assert!(found.p < 1e-15, "{}", found.p);
        let even: Vec<f64> = (0..40).map(|k| 1.25 * f64::from(k)).collect();
        let found = rayleigh(&even, 50.0).unwrap();
        assert!(found.resultant < 1e-12 && found.p > 0.999, "{found:?}");
    }

    /// In large samples n R² is half a chi-squared with two degrees of freedom.
    #[test]
    fn large_samples_have_the_exponential_tail() {
        for (statistic, p) in [(2.996, 0.05), (4.605, 0.01)] {
            // Two phases, opposite, in the mixture that has the resultant asked for.
            let n = 100_000.0_f64;
            let at_zero = ((1.0 + (statistic / n).sqrt()) / 2.0 * n).round() as usize;
            let mut values = vec![0.0; at_zero];
            values.resize(n as usize, 0.5);
            assert!((rayleigh(&values, 1.0).unwrap().p - p).abs() < 0.002);
        }
    }

    #[test]
    fn a_normal_of_a_quarter_period_keeps_a_third() {
        assert!((resultant_of_normal(0.25, 1.0) - 0.291).abs() < 0.001);
        assert_eq!(resultant_of_normal(0.0, 1.0), 1.0);
    }

    #[test]
    fn refuses_what_it_cannot_answer() {
        for (values, period) in
            [(vec![], 1.0), (vec![1.0], 1.0), (vec![1.0, 2.0], 0.0), (vec![f64::NAN, 1.0], 1.0)]
        {
            assert_eq!(rayleigh(&values, period), None);
        }
        assert_eq!(rayleigh(&[1.0, 2.0], f64::NAN), None);
    }
}
