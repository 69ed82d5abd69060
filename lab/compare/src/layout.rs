//! How much of the variance of the differences the layout of memory carries.

use lab_stats::{
    correlation::mid_ranks,
    variance::{Observation, shares},
};
use serde::Serialize;

use crate::Layout;

/// Fewer rounds tell nothing of a dozen classes.
const LEAST_ROUNDS: usize = 30;
/// Above this probability a share is no more than chance.
const CHANCE: f64 = 0.01;
/// The classes of each factor.
const CLASSES: [&str; 4] = ["1", "2", "3", "4"];
/// The factors. What is added to environment and path moves the stack down by as much.
const FACTORS: [&str; 3] = ["stack in its page", "stack in its cache line", "path length"];

/// The share of the variance of d, the differences of logarithms, that goes with the layout of
/// their rounds: an analysis of variance of the ranks of d, since some runs are always disturbed
/// (Conover and Iman 1981, as [`lab_stats::variance::Attribution::p_value`] has it).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayoutShare {
    /// Rounds that it is about.
    pub rounds: usize,
    /// The explained part, between 0 and 1.
    pub explained: f64,
    /// What a layout without any effect would explain on average.
    pub by_chance: f64,
    /// The probability that a layout without any effect explains as much. It holds at whatever
    /// round a comparison stops, for a layout without effect tells nothing of when that is.
    pub p: f64,
    /// By factor, in an order: each has what it explains beyond those before it.
    pub factors: Vec<(&'static str, f64)>,
}

impl LayoutShare {
    /// Of the differences of rounds with their layouts; `None` for too few of them, and where all
    /// are alike.
    pub fn of(rounds: &[(Layout, f64)]) -> Option<Self> {
        if rounds.len() < LEAST_ROUNDS {
            return None;
        }
        let differences: Vec<f64> = rounds.iter().map(|(_, difference)| *difference).collect();
        let ranks = mid_ranks(&differences);
        let observation = |((layout, _), rank): (&(Layout, f64), f64)| {
            let levels = classes(*layout).map(|class| CLASSES[class]);
            Observation { value: rank, levels: FACTORS.into_iter().zip(levels).collect() }
        };
        let observations: Vec<_> = rounds.iter().zip(ranks).map(observation).collect();
        let found = shares(&observations).ok()?;
        Some(Self {
            rounds: rounds.len(),
            explained: found.explained(),
            by_chance: found.by_chance(),
            p: found.p_value()?,
            factors: FACTORS.into_iter().zip(found.factors.iter().map(|f| f.share)).collect(),
        })
    }

    /// Whether the layout explains no more than it would without any effect.
    pub fn is_chance(&self) -> bool {
        self.p > CHANCE
    }

    /// The explained part less what chance explains, as a share of what chance leaves: Kelley
    /// (1935), Proceedings of the National Academy of Sciences 21(9), pp. 554-559.
    pub fn beyond_chance(&self) -> f64 {
        ((self.explained - self.by_chance) / (1.0 - self.by_chance)).max(0.0)
    }
}

/// Quarters of a page of 4 KiB, of a cache line of 64 bytes and of a name's 255 bytes.
fn classes(layout: Layout) -> [usize; 3] {
    let path = usize::from(layout.path_bytes);
    let moved = usize::from(layout.environment_bytes) + path;
    [moved % 4096 / 1024, moved % 64 / 16, path / 64]
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::Schedule;

    /// Rounds of noise of one unit's width with a hiccup now and then, and what the layout adds.
    fn rounds(seed: u64, count: usize, effect: impl Fn(Layout) -> f64) -> Vec<(Layout, f64)> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let noise = |rng: &mut Pcg64| match rng.random_range(0..50) {
            0 => 100.0,
            _ => rng.random_range(-0.5..0.5),
        };
        let layouts = Schedule::new(seed, 2).take(count).map(|round| round.layout);
        layouts.map(|layout| (layout, noise(&mut rng) + effect(layout))).collect()
    }

    #[test]
    fn a_layout_without_effect_is_chance_as_often_as_is_said() {
        let tries = 2_000;
        let found = (0..tries).map(|seed| LayoutShare::of(&rounds(seed, 40, |_| 0.0)).unwrap());
        let (mut called, mut explained) = (0, 0.0);
        for share in found {
            called += usize::from(!share.is_chance());
            explained += share.explained / tries as f64;
            assert!((share.by_chance - 9.0 / 39.0).abs() < 1e-12);
        }
        // 1 % of 2,000 is 20, with a standard deviation of 4.5.
        assert!((5..=38).contains(&called), "{called}");
        assert!((explained - 9.0 / 39.0).abs() < 0.01, "{explained}");
    }

    #[test]
    fn an_effect_of_each_factor_is_found_and_named() {
        let effects: [fn(Layout) -> f64; 3] = [
            |layout| f64::from(classes(layout)[0] == 2),
            |layout| f64::from(classes(layout)[1] == 1),
            |layout| f64::from(layout.path_bytes) / 255.0,
        ];
        for (factor, effect) in effects.iter().enumerate() {
            let share = LayoutShare::of(&rounds(9, 400, effect)).unwrap();
            let of_factor = |place: usize| share.factors[place].1;
            assert!(!share.is_chance() && share.beyond_chance() > 0.2, "{share:?}");
            assert!(
                (0..3).all(|other| other == factor || of_factor(other) < of_factor(factor) / 5.0),
                "{share:?}"
            );
        }
    }

    #[test]
    fn a_layout_that_decides_everything_explains_everything() {
        let decided = rounds(4, 60, |_| 0.0);
        let decided: Vec<_> =
            decided.iter().map(|(layout, _)| (*layout, classes(*layout)[0] as f64)).collect();
        let share = LayoutShare::of(&decided).unwrap();
        assert!(share.explained > 0.999 && share.p < 1e-9, "{share:?}");
    }

    #[test]
    fn classes_are_quarters_of_what_moves_the_stack_and_of_the_path() {
        let levels = |environment_bytes, path_bytes| {
            classes(Layout { environment_bytes, path_bytes, build: 0 })
        };
        assert_eq!(levels(0, 0), [0, 0, 0]);
        assert_eq!(levels(1023, 0), [0, 3, 0]);
        assert_eq!(levels(1023, 1), [1, 0, 0]);
        assert_eq!(levels(4000, 96), [0, 0, 1]);
        assert_eq!(levels(3071, 255), [3, 3, 3]);
        assert_eq!(levels(16, 64), [0, 1, 1]);
    }

    #[test]
    fn a_share_is_told_as_what_chance_leaves() {
        let share = |explained, p| LayoutShare {
            rounds: 40,
            explained,
            by_chance: 0.2,
            p,
            factors: vec![],
        };
        assert!((share(0.6, 0.5).beyond_chance() - 0.5).abs() < 1e-12);
        assert_eq!(share(0.1, 0.5).beyond_chance(), 0.0);
        assert!(share(0.1, 0.011).is_chance() && !share(0.1, 0.01).is_chance());
    }

    #[test]
    fn too_few_rounds_and_equal_ones_tell_nothing() {
        assert_eq!(LayoutShare::of(&rounds(1, LEAST_ROUNDS - 1, |_| 0.0)), None);
        assert!(LayoutShare::of(&rounds(1, LEAST_ROUNDS, |_| 0.0)).is_some());
        let equal: Vec<_> =
            rounds(1, 50, |_| 0.0).iter().map(|(layout, _)| (*layout, 0.0)).collect();
        assert_eq!(LayoutShare::of(&equal), None);
    }
}
