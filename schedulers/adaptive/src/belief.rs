//! What is believed of one arm's cost: mean, spread, and how many observations stand behind it.

/// An exponentially weighted estimate of a cost in nanoseconds; nothing at weight 0.
///
/// The weights of the observations sum to 1 at every moment, so the mean is unbiased from the
/// first one on: until `memory` observations it is the plain mean, afterwards each new one weighs
/// 1/memory and the old ones the rest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Belief {
    pub mean: f64,
    pub variance: f64,
    pub weight: f64,
}

/// Squared: an observation so many standard deviations away is a surprise.
const SURPRISE_SQUARED: f64 = 16.0;

impl Belief {
    /// A belief of that mean that one observation outweighs.
    #[inline]
    pub fn vague(mean: f64) -> Self {
        Self { mean, variance: 0.0, weight: 1.0 }
    }

    /// Takes in one observation. West 1979, "Updating mean and variance estimates", with a
    /// bounded weight.
    #[inline]
    pub fn observe(&mut self, cost: f64, memory: f64) {
        self.weight = (self.weight + 1.0).min(memory);
        let share = 1.0 / self.weight;
        let distance = cost - self.mean;
        let moved = self.mean + distance * share;
        // Rounding must not carry the mean beyond what was observed.
        self.mean = if distance >= 0.0 { moved.min(cost) } else { moved.max(cost) };
        self.variance = (1.0 - share) * (self.variance + distance * distance * share);
    }

    /// Whether an observation does not look like those before: four standard deviations and half
    /// the mean away. Few observations know little of their spread, so the mean stands in for it.
    #[inline]
    pub fn surprised_by(&self, cost: f64) -> bool {
        let distance = cost - self.mean;
        // Both sides times four times the weight, because a division costs more than all the rest.
        let scale = 4.0 * self.weight;
        let spread = scale * self.variance + self.mean * self.mean;
        let far = 2.0 * distance.abs() > self.mean;
        self.weight > 1.0 && far && scale * distance * distance > SURPRISE_SQUARED * spread
    }

    /// Variance of the mean itself, which Thompson sampling draws from. The second term is a
    /// prior spread as large as the mean, with the weight of one observation.
    #[inline]
    pub fn variance_of_mean(&self) -> f64 {
        let more = 1.0 + self.weight;
        (self.variance * more + self.mean * self.mean) / (self.weight * more)
    }
}

/// Probability that a standard normal is below z, as a share of 65,535; linear steps of 1/16.
#[derive(Debug)]
pub(crate) struct NormalTable([u16; STEPS]);

const STEPS: usize = 128;
const PER_UNIT: f64 = 16.0;
/// A threshold at which every draw offloads.
pub(crate) const ALWAYS: u16 = u16::MAX;

impl NormalTable {
    /// Sums the density by the trapezoid rule, which is exact to 10^-6 at these steps.
    pub fn new() -> Self {
        let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        let fine = 1.0 / (PER_UNIT * 16.0);
        let mut below = 0.5;
        Self(std::array::from_fn(|step| {
            let value = below;
            for part in 0..16 {
                let from = step as f64 / PER_UNIT + f64::from(part) * fine;
                below += fine * 0.5 * (density(from) + density(from + fine));
            }
            (value * f64::from(ALWAYS)).round() as u16
        }))
    }

    /// Probability that a normal variable with this mean and variance is positive.
    #[inline]
    pub fn positive(&self, mean: f64, variance: f64) -> u16 {
        // Far out the root need not be drawn, and a settled site is always far out.
        if mean * mean > 30.0 * variance {
            return if mean > 0.0 { ALWAYS } else { 0 };
        }
        if variance <= 0.0 {
            return ALWAYS / 2;
        }
        let step = (mean.abs() / variance.sqrt() * PER_UNIT + 0.5) as usize;
        let above = self.0[step.min(STEPS - 1)];
        if mean >= 0.0 { above } else { ALWAYS - above }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_the_published_one() {
        let table = NormalTable::new();
        for (z, probability) in [(0.0, 0.5), (1.0, 0.8413), (-1.0, 0.1587), (1.9375, 0.9737)] {
            let found = f64::from(table.positive(z, 1.0)) / f64::from(ALWAYS);
            assert!((found - probability).abs() < 2e-4, "{z}: {found}");
        }
        assert_eq!(table.positive(6.0, 1.0), ALWAYS);
        assert_eq!(table.positive(-6.0, 1.0), 0);
    }

    #[test]
    fn a_constant_cost_is_estimated_as_itself_for_ever() {
        let mut belief = Belief::default();
        for _ in 0..100_000 {
            belief.observe(500.0, 32.0);
        }
        assert_eq!((belief.mean, belief.variance, belief.weight), (500.0, 0.0, 32.0));
    }

    #[test]
    fn the_first_observations_give_the_plain_mean_and_variance() {
        let mut belief = Belief::default();
        for cost in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            belief.observe(cost, 32.0);
        }
        assert!((belief.mean - 5.0).abs() < 1e-12 && (belief.variance - 4.0).abs() < 1e-12);
    }

    #[test]
    fn an_outlier_surprises_and_noise_does_not() {
        let mut belief = Belief::default();
        for step in 0..32 {
            belief.observe(if step % 2 == 0 { 18.0 } else { 22.0 }, 32.0);
        }
        assert!(belief.surprised_by(200.0) && belief.surprised_by(4.0));
        assert!(!belief.surprised_by(26.0) && !belief.surprised_by(14.0));
        assert!(!Belief::default().surprised_by(1.0));
    }
}
