//! Of six samples against six there are 924 regroupings, so that none is as rare as a level of
//! 0.1 % asks. There Welch's t-test decides, which takes the logarithms for normal. It calls two
//! samples different only where every value of one lies above every value of the other: of equal
//! distributions, whatever they are, that is as rare as one or two regroupings.

use lab_stats::unpaired::welch_t;

/// Two samples of logarithms.
pub(crate) struct Welch<'a> {
    a: &'a [f64],
    b: &'a [f64],
    /// The difference of the means.
    estimate: f64,
}

impl<'a> Welch<'a> {
    pub(crate) fn new(a: &'a [f64], b: &'a [f64]) -> Self {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Self { a, b, estimate: mean(a) - mean(b) }
    }

    /// Of no difference, where the regroupings have this one.
    pub(crate) fn p(&self, regrouped: f64) -> Option<f64> {
        if self.is_apart() { self.p_of(0.0) } else { Some(regrouped) }
    }

    /// What the difference of the means may be; 0 lies in it where the samples are not apart.
    pub(crate) fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let (low, high) =
            (self.estimate + self.end(-1.0, alpha)?, self.estimate + self.end(1.0, alpha)?);
        Some(if self.is_apart() { [low, high] } else { [low.min(0.0), high.max(0.0)] })
    }

    fn is_apart(&self) -> bool {
        let ends = |values: &[f64]| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((a_low, a_high), (b_low, b_high)) = (ends(self.a), ends(self.b));
        a_high < b_low || b_high < a_low
    }

    fn p_of(&self, shift: f64) -> Option<f64> {
        let moved: Vec<f64> = self.a.iter().map(|value| value - shift).collect();
        welch_t(&moved, self.b).map(|found| found.p)
    }

    /// The distance from the estimate to the first rejected shift, in that direction.
    fn end(&self, direction: f64, alpha: f64) -> Option<f64> {
        const SMALLEST: f64 = 1e-12;
        const DOUBLINGS: i32 = 50;
        const HALVINGS: usize = 40;
        let is_rejected = |by: &f64| self.p_of(self.estimate + by).is_some_and(|p| p <= alpha);
        let mut steps = (0..DOUBLINGS).map(|k| direction * SMALLEST * 2_f64.powi(k));
        let mut outside = steps.find(is_rejected)?;
        let mut inside = 0.0;
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(inside, outside);
            if is_rejected(&middle) { outside = middle } else { inside = middle }
        }
        Some(outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extra hours of sleep under two drugs: Student (1908), and R's data set `sleep`.
    const SLEEP_1: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SLEEP_2: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    #[test]
    fn the_interval_is_the_one_of_r() {
        // R's t.test(extra ~ group, data = sleep): (-3.365, 0.205).
        let [low, high] = Welch::new(&SLEEP_1, &SLEEP_2).interval(0.05).unwrap();
        assert!((low - -3.3655).abs() < 5e-4 && (high - 0.2055).abs() < 5e-4, "{low} {high}");
    }

    #[test]
    fn samples_that_mix_are_not_called_different() {
        let (a, mixed) = ([1.0, 1.01, 1.02, 1.03, 1.04], [1.035, 1.1, 1.11, 1.12, 1.13]);
        let welch = Welch::new(&a, &mixed);
        assert!(welch.p_of(0.0).unwrap() < 0.02);
        assert_eq!(welch.p(0.3), Some(0.3));
        assert_eq!(welch.interval(0.05).unwrap()[1], 0.0);
        let apart = mixed.map(|value| value + 0.1);
        let welch = Welch::new(&a, &apart);
        assert_eq!(welch.p(0.3), welch.p_of(0.0));
        assert!(welch.interval(0.01).unwrap()[1] < 0.0);
    }
}
