//! What a comparison could have detected, which belongs beside every "cannot tell".

use rand::Rng;
use rand_pcg::Pcg64;

use crate::resample::{Masks, SubsetSums, choose, generator};
use crate::{mean, open_unit, sample_variance, usable};

/// Simulated experiments for each power that is looked at: its standard error at 80 % is 1.3 %.
const EXPERIMENTS: usize = 1_000;
/// Halvings of the bracket, far below the simulation's own noise.
const HALVINGS: usize = 12;
/// Doublings of the bracket from one standard deviation, after which nothing will be found.
const DOUBLINGS: usize = 20;

/// The smallest shift of paired differences that [`sign_flip_test`](crate::paired::sign_flip_test)
/// at level `alpha` finds with probability `power` in `n` pairs, in the unit of the residuals.
///
/// By simulation: `n` centred residuals are drawn with replacement, a shift is added to all, the
/// test is made with some 1,000 sign patterns, and the shift is bisected. No distribution is
/// assumed; the residuals recorded in the experiment are what its noise is. To learn what the
/// experiment itself could have seen, give its differences as residuals and its own `n`; for a
/// comparison that stands in a Holm family of m, `alpha`/m is the cautious level.
/// Source: the bootstrap power estimate of Efron and Tibshirani (1993), An Introduction to the
/// Bootstrap, section 25.3.
///
/// 0 when the residuals have no spread. `None` for fewer than two or unusable residuals, `alpha`
/// or `power` outside (0, 1), and where no shift is ever found: with n pairs no p-value is below
/// 2^(1-n), and an `alpha` below 1/5,000 is finer than the simulated test.
pub fn minimum_detectable_effect(
    residuals: &[f64],
    n: usize,
    alpha: f64,
    power: f64,
    seed: u64,
) -> Option<f64> {
    if 2.0 * 0.5_f64.powf(n as f64) > alpha {
        return None;
    }
    let noise = Noise::new(residuals, alpha, power, seed)?;
    let mut rng = noise.rng.clone();
    let masks = Masks::signs(n, noise.regroupings, &mut rng);
    // A flipped sum is twice the sum of the kept differences less the sum of all.
    let kept = masks.iter().map(|mask| ones(mask, n) as f64);
    let slopes = kept.map(|kept| 2.0 * kept - n as f64).collect();
    let simulate = || {
        let values = noise.draw(n, &mut rng);
        let total: f64 = values.iter().sum();
        let sums = SubsetSums::new(&values);
        let regrouped = masks.iter().map(|mask| 2.0 * sums.sum(mask) - total).collect();
        Experiment { observed: total, regrouped }
    };
    let experiments = std::iter::repeat_with(simulate).take(EXPERIMENTS).collect();
    Simulation { experiments, slope: n as f64, slopes, masks }.smallest_shift(&noise, alpha, power)
}

/// As [`minimum_detectable_effect`], for two samples of `n_a` and `n_b` values measured apart and
/// dealt anew into groups of these sizes. `residuals` are the values of both samples, each less its
/// own mean. `None` also where `n_a` and `n_b` values allow no p-value as small as `alpha`.
pub fn minimum_detectable_effect_unpaired(
    residuals: &[f64],
    n_a: usize,
    n_b: usize,
    alpha: f64,
    power: f64,
    seed: u64,
) -> Option<f64> {
    let n = n_a.checked_add(n_b)?;
    // Groups of the same size come in mirrored pairs, and both of a pair are as extreme. Of an
    // empty group there is one, whose p-value is 1.
    let ties = if n_a == n_b { 2.0 } else { 1.0 };
    if ties / choose(n, n_a) > alpha {
        return None;
    }
    let noise = Noise::new(residuals, alpha, power, seed)?;
    let mut rng = noise.rng.clone();
    let masks = Masks::groups(n, n_a, noise.regroupings, &mut rng);
    // The group's sum less what it is expected to be is the difference of means, but for a factor.
    let share = n_a as f64 / n as f64;
    let slope = n_a as f64 * (1.0 - share);
    let slopes = masks.iter().map(|mask| ones(mask, n_a) as f64 - n_a as f64 * share).collect();
    let simulate = || {
        let values = noise.draw(n, &mut rng);
        let expected = values.iter().sum::<f64>() * share;
        let sums = SubsetSums::new(&values);
        let regrouped = masks.iter().map(|mask| sums.sum(mask) - expected).collect();
        Experiment { observed: values[..n_a].iter().sum::<f64>() - expected, regrouped }
    };
    let experiments = std::iter::repeat_with(simulate).take(EXPERIMENTS).collect();
    Simulation { experiments, slope, slopes, masks }.smallest_shift(&noise, alpha, power)
}

/// Centred residuals and what is common to both designs.
struct Noise {
    residuals: Vec<f64>,
    sd: f64,
    regroupings: usize,
    rng: Pcg64,
}

impl Noise {
    fn new(residuals: &[f64], alpha: f64, power: f64, seed: u64) -> Option<Noise> {
        if !usable(residuals) || residuals.len() < 2 || !open_unit(alpha) || !open_unit(power) {
            return None;
        }
        let centre = mean(residuals);
        // At least five regroupings may be as extreme as the data, or the level is coarse.
        let regroupings = (5.0 / alpha).ceil().clamp(999.0, 4_999.0) as usize;
        Some(Noise {
            residuals: residuals.iter().map(|value| value - centre).collect(),
            sd: sample_variance(residuals).sqrt(),
            regroupings,
            rng: generator(seed),
        })
    }

    fn draw(&self, n: usize, rng: &mut Pcg64) -> Vec<f64> {
        (0..n).map(|_| self.residuals[rng.random_range(0..self.residuals.len())]).collect()
    }
}

/// The test's statistic without any shift, for the data and for every regrouping.
struct Experiment {
    observed: f64,
    regrouped: Vec<f64>,
}

/// A thousand experiments, all tested with the same regroupings. Every statistic is linear in the
/// shift, `observed + shift * slope`, so that the sums are made once and serve every shift: this
/// turns minutes into a fraction of a second. The same experiments also make the power a smooth
/// function of the shift, which bisection needs.
struct Simulation {
    experiments: Vec<Experiment>,
    slope: f64,
    slopes: Vec<f64>,
    masks: Masks,
}

impl Simulation {
    fn smallest_shift(&self, noise: &Noise, alpha: f64, power: f64) -> Option<f64> {
        if noise.sd == 0.0 {
            return Some(0.0);
        }
        let most = (0..=self.slopes.len()).take_while(|hits| self.masks.p_value(*hits) <= alpha);
        let most_hits = most.last()?;
        let found = |shift: f64| self.power(shift, most_hits, noise.sd) >= power;
        let mut high =
            (0..=DOUBLINGS).map(|i| noise.sd * 2.0_f64.powi(i as i32)).find(|s| found(*s))?;
        // No lower bound of 0 is checked: a power above `power` without a shift would need an
        // `alpha` as large.
        let mut low = if high > noise.sd { high / 2.0 } else { 0.0 };
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if found(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    /// The share of the experiments in which the test rejects.
    fn power(&self, shift: f64, most_hits: usize, sd: f64) -> f64 {
        let rejects = |experiment: &&Experiment| {
            let observed = (experiment.observed + shift * self.slope).abs();
            // Ties with the data count, also where rounding parts them.
            let extreme = observed - 1e-12 * (observed + self.slope * sd);
            let statistics = experiment.regrouped.iter().zip(&self.slopes);
            let hits =
                statistics.filter(|(value, slope)| (*value + shift * **slope).abs() >= extreme);
            // No need to count further than to the first hit too many.
            hits.take(most_hits + 1).count() <= most_hits
        };
        self.experiments.iter().filter(rejects).count() as f64 / EXPERIMENTS as f64
    }
}

/// How many of the first `len` bits are set.
fn ones(mask: &[u64], len: usize) -> u32 {
    let word = |(i, word): (usize, &u64)| match len.saturating_sub(64 * i) {
        0 => 0,
        used @ 1..64 => (word & ((1 << used) - 1)).count_ones(),
        _ => word.count_ones(),
    };
    mask.iter().enumerate().map(word).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::sign_flip_test;
    use statrs::distribution::{ContinuousCDF, Normal};

    /// The p-value that two means are equal, by dealing all values anew: in all ways, or 20,000.
    fn dealt_anew(a: &[f64], b: &[f64]) -> f64 {
        let pooled = [a, b].concat();
        let masks = Masks::groups(pooled.len(), a.len(), 20_000, &mut generator(3));
        let sums = SubsetSums::new(&pooled);
        let expected = mean(&pooled) * a.len() as f64;
        let apart = |sum: f64| (sum - expected).abs();
        let observed = apart(a.iter().sum()) - 1e-9;
        masks.p_value(masks.iter().filter(|mask| apart(sums.sum(mask)) >= observed).count())
    }

    /// Normal quantiles, scaled to a standard deviation of exactly 1.
    fn normal_residuals(n: usize) -> Vec<f64> {
        let normal = Normal::standard();
        let quantiles = (0..n).map(|i| normal.inverse_cdf((i as f64 + 0.5) / n as f64));
        let values: Vec<f64> = quantiles.collect();
        let sd = sample_variance(&values).sqrt();
        values.iter().map(|value| value / sd).collect()
    }

    /// Power 80 % of a two-sided t-test at 5 % with 36 pairs needs d = 0.480 (G*Power, R's
    /// power.t.test); the sign-flip test is as efficient on normal noise.
    #[test]
    fn normal_noise_as_the_t_test_needs_it() {
        let found = minimum_detectable_effect(&normal_residuals(200), 36, 0.05, 0.8, 1).unwrap();
        assert!((found - 0.480).abs() < 0.03, "{found}");
    }

    /// Cohen (1988), table 2.4.1: d = 0.80 needs 26 values a group.
    #[test]
    fn two_groups_as_cohen_tabled() {
        let residuals = normal_residuals(200);
        let found = minimum_detectable_effect_unpaired(&residuals, 26, 26, 0.05, 0.8, 1).unwrap();
        assert!((found - 0.79).abs() < 0.04, "{found}");
    }

    #[test]
    fn the_real_tests_find_it_in_four_of_five_experiments() {
        let residuals: Vec<f64> = (0..40).map(|i| f64::from(i).powi(2) / 100.0).collect();
        let noise = Noise::new(&residuals, 0.05, 0.8, 0).unwrap();
        let mut rng = generator(99);
        let paired = minimum_detectable_effect(&residuals, 20, 0.05, 0.8, 1).unwrap();
        let apart = minimum_detectable_effect_unpaired(&residuals, 9, 12, 0.05, 0.8, 1).unwrap();
        let (mut paired_hits, mut apart_hits) = (0, 0);
        for _ in 0..400 {
            let shifted: Vec<f64> = noise.draw(20, &mut rng).iter().map(|v| v + paired).collect();
            paired_hits += usize::from(sign_flip_test(&shifted, 3).unwrap() <= 0.05);
            let a: Vec<f64> = noise.draw(9, &mut rng).iter().map(|v| v + apart).collect();
            let b = noise.draw(12, &mut rng);
            apart_hits += usize::from(dealt_anew(&a, &b) <= 0.05);
        }
        // Three standard errors of 400 draws and of the simulation's own 1,000.
        for hits in [paired_hits, apart_hits] {
            assert!((hits as f64 / 400.0 - 0.8).abs() < 0.07, "{hits} of 400");
        }
    }

    #[test]
    fn scales_with_the_noise_and_shrinks_with_n() {
        let residuals = normal_residuals(36);
        let mde = |values: &[f64], n| minimum_detectable_effect(values, n, 0.05, 0.8, 4).unwrap();
        let doubled: Vec<f64> = residuals.iter().map(|value| 2.0 * value + 7.0).collect();
        assert!((mde(&doubled, 12) / mde(&residuals, 12) - 2.0).abs() < 1e-6);
        assert!(mde(&residuals, 36) < mde(&residuals, 12));
        assert_eq!(mde(&[3.0; 8], 8), 0.0);
    }

    /// So few values that all regroupings are looked at, here as in the tests themselves: they find
    /// the shift in four of five of the very experiments it comes from, and no smaller one.
    #[test]
    fn of_few_values_it_is_the_real_tests_shift() {
        let residuals: Vec<f64> = (0..40).map(|i| f64::from(i).powi(2) / 100.0).collect();
        let noise = Noise::new(&residuals, 0.05, 0.8, 1).unwrap();
        let hits = |n: usize, found: &dyn Fn(Vec<f64>) -> bool| {
            let mut rng = noise.rng.clone();
            (0..EXPERIMENTS).filter(|_| found(noise.draw(n, &mut rng))).count()
        };
        let paired = minimum_detectable_effect(&residuals, 9, 0.05, 0.8, 1).unwrap();
        let of_pairs = |shift: f64| {
            hits(9, &|values| {
                let moved: Vec<f64> = values.iter().map(|value| value + shift).collect();
                sign_flip_test(&moved, 0).unwrap() <= 0.05
            })
        };
        assert!(of_pairs(paired) >= 800 && of_pairs(0.999 * paired) < 800);
        let apart = minimum_detectable_effect_unpaired(&residuals, 4, 6, 0.05, 0.8, 1).unwrap();
        let of_samples = |shift: f64| {
            hits(10, &|values| {
                let moved: Vec<f64> = values[..4].iter().map(|value| value + shift).collect();
                dealt_anew(&moved, &values[4..]) <= 0.05
            })
        };
        assert!(of_samples(apart) >= 800 && of_samples(0.999 * apart) < 800);
    }

    #[test]
    fn a_smaller_level_takes_more_regroupings() {
        let regroupings = |alpha| Noise::new(&[1.0, 2.0], alpha, 0.8, 0).unwrap().regroupings;
        assert_eq!([0.05, 0.002, 0.000_1].map(regroupings), [999, 2_500, 4_999]);
    }

    #[test]
    fn says_none_where_nothing_can_be_found() {
        let residuals = normal_residuals(12);
        assert_eq!(minimum_detectable_effect(&residuals, 5, 0.05, 0.8, 0), None);
        assert!(minimum_detectable_effect(&residuals, 6, 1.0 / 32.0, 0.8, 0).is_some());
        assert_eq!(minimum_detectable_effect(&residuals, 36, 1e-5, 0.8, 0), None);
        assert_eq!(minimum_detectable_effect(&residuals, 0, 0.05, 0.8, 0), None);
        assert_eq!(minimum_detectable_effect(&[f64::NAN; 9], 9, 0.05, 0.8, 0), None);
        assert_eq!(minimum_detectable_effect(&residuals, 9, f64::NAN, 0.8, 0), None);
        assert_eq!(minimum_detectable_effect_unpaired(&residuals, 3, 3, 0.05, 0.8, 0), None);
        assert!(minimum_detectable_effect_unpaired(&residuals, 4, 4, 1.0 / 35.0, 0.8, 0).is_some());
        assert_eq!(minimum_detectable_effect_unpaired(&residuals, 9, 0, 0.05, 0.8, 0), None);
        assert_eq!(minimum_detectable_effect_unpaired(&residuals, 0, 9, 0.05, 0.8, 0), None);
    }

    #[test]
    fn ones_ignores_coins_beyond_the_last_value() {
        assert_eq!(ones(&[u64::MAX, u64::MAX], 70), 70);
        assert_eq!(ones(&[u64::MAX], 64), 64);
        assert_eq!(ones(&[0b1011], 2), 2);
    }
}
