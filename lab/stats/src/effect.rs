//! How large a paired difference is, apart from how sure it is.

use crate::{mean, sample_variance, usable};

/// Cohen's d for paired differences, d_z: their mean in units of their own standard deviation.
/// Source: Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, 2nd ed., p. 48.
///
/// It grows as the noise between the two halves of a pair shrinks, and so cannot be compared with
/// the d of two independent samples. `None` for an unusable sample, fewer than two differences,
/// or differences without spread.
pub fn paired_dz(differences: &[f64]) -> Option<f64> {
    if !usable(differences) || differences.len() < 2 {
        return None;
    }
    let dz = mean(differences) / sample_variance(differences).sqrt();
    dz.is_finite().then_some(dz)
}

/// The probability that the candidate's value of a pair is the larger one, ties counted half:
/// 0.5 where neither is superior. Where lower is better, a good candidate is near 0.
/// Source: McGraw and Wong (1992), "A Common Language Effect Size Statistic", Psychological
/// Bulletin 111(2), pp. 361-365; ties as Vargha and Delaney (2000), Journal of Educational and
/// Behavioral Statistics 25(2), pp. 101-132.
///
/// `None` for an unusable sample.
pub fn probability_of_superiority(differences: &[f64]) -> Option<f64> {
    if !usable(differences) {
        return None;
    }
    let larger = differences.iter().filter(|d| **d > 0.0).count() as f64;
    let ties = differences.iter().filter(|d| **d == 0.0).count() as f64;
    Some((larger + ties / 2.0) / differences.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_examples() {
        // Mean 2 and standard deviation 1.
        assert!((paired_dz(&[1.0, 2.0, 3.0]).unwrap() - 2.0).abs() < 1e-15);
        assert_eq!(probability_of_superiority(&[1.0, -1.0, 0.0, 2.0]), Some(0.625));
    }

    #[test]
    fn refuses_what_has_no_answer() {
        assert_eq!(paired_dz(&[0.1; 3]), None);
        assert_eq!(paired_dz(&[2.0]), None);
        assert_eq!(paired_dz(&[2.0, f64::NAN]), None);
        assert_eq!(paired_dz(&[1e151, 2e151]), None);
        assert!(paired_dz(&[1.0, 2.0]).is_some());
        assert_eq!(probability_of_superiority(&[]), None);
    }
}
