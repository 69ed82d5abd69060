//! Of six samples against six there are 924 regroupings, so that none is as rare as a level of
//! 0.1 % asks. There Welch's t-test decides, which takes the logarithms for normal. It calls two
//! samples different only where every value of one lies above every value of the other: of equal
//! distributions, whatever they are, that is as rare as one or two regroupings.

use lab_stats::unpaired::{self, welch_t};

/// Two samples of logarithms.
pub(crate) struct Welch {
    test: unpaired::Welch,
    is_apart: bool,
}

impl Welch {
    /// `None` where the test has no answer.
    pub(crate) fn new(a: &[f64], b: &[f64]) -> Option<Self> {
        Some(Self { test: welch_t(a, b)?, is_apart: are_apart(a, b) })
    }

    /// Of no difference, where the regroupings have this one.
    pub(crate) fn p(&self, regrouped: f64) -> f64 {
        if self.is_apart { self.test.p } else { regrouped }
    }

    /// What the difference of the means may be; 0 lies in it where the samples are not apart.
    pub(crate) fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let [low, high] = self.test.interval(alpha)?;
        Some(if self.is_apart { [low, high] } else { [low.min(0.0), high.max(0.0)] })
    }
}

fn are_apart(a: &[f64], b: &[f64]) -> bool {
    let ends = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((a_low, a_high), (b_low, b_high)) = (ends(a), ends(b));
    a_high < b_low || b_high < a_low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_mix_are_not_called_different() {
        let (a, mixed) = ([1.0, 1.01, 1.02, 1.03, 1.04], [1.035, 1.1, 1.11, 1.12, 1.13]);
        let welch = Welch::new(&a, &mixed).unwrap();
        assert!(welch.test.p < 0.02);
        assert_eq!(welch.p(0.3), 0.3);
        assert_eq!(welch.interval(0.05).unwrap()[1], 0.0);
        let apart = mixed.map(|value| value + 0.1);
        let welch = Welch::new(&a, &apart).unwrap();
        assert_eq!(welch.p(0.3), welch.test.p);
        assert!(welch.interval(0.01).unwrap()[1] < 0.0);
    }
}
