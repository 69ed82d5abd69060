//! The order of each round, and the layout that its runs share.

use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// The largest padding of the environment, which lies above the stack: a page covers every place
/// of the stack's data against lines and sets of a cache.
const ENVIRONMENT_BYTES: u16 = 4096;

/// Where a run's memory lies, as far as the starter decides on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Bytes added to the environment.
    pub environment_bytes: u16,
}

/// One round before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundPlan {
    /// The commands in the order in which they run: 0 is the reference, the last one the control.
    pub order: Vec<usize>,
    /// What all runs of the round share, so that it is noise between rounds and never a bias.
    pub layout: Layout,
}

/// Rounds without end, drawn from a seed: every order has the same probability, whatever came
/// before. Orders that balance each other would void the proof, which takes the coin of a pair to
/// be independent of all earlier ones.
#[derive(Clone, Debug)]
pub struct Schedule {
    rng: Pcg64,
    commands: usize,
}

impl Schedule {
    /// Rounds of so many commands.
    pub fn new(seed: u64, commands: usize) -> Self {
        Self { rng: Pcg64::seed_from_u64(seed), commands }
    }
}

impl Iterator for Schedule {
    type Item = RoundPlan;

    fn next(&mut self) -> Option<RoundPlan> {
        let mut order: Vec<usize> = (0..self.commands).collect();
        order.shuffle(&mut self.rng);
        let environment_bytes = self.rng.random_range(0..=ENVIRONMENT_BYTES);
        let layout = Layout { environment_bytes };
        Some(RoundPlan { order, layout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_rounds_and_another_seed_others() {
        let rounds = |seed| Schedule::new(seed, 3).take(20).collect::<Vec<_>>();
        assert_eq!(rounds(7), rounds(7));
        assert_ne!(rounds(7), rounds(8));
        let resumed: Vec<RoundPlan> = Schedule::new(7, 3).skip(5).take(15).collect();
        assert_eq!(resumed, rounds(7)[5..]);
    }

    #[test]
    fn the_coin_is_fair_and_independent_of_the_last_one() {
        let firsts: Vec<bool> =
            Schedule::new(1, 2).take(20_000).map(|round| round.order[0] == 0).collect();
        let share = |hits: usize, of: usize| hits as f64 / of as f64;
        let fair = share(firsts.iter().filter(|first| **first).count(), firsts.len());
        let same = firsts.windows(2).filter(|pair| pair[0] == pair[1]).count();
        // Five standard errors of a share of 20,000.
        assert!((fair - 0.5).abs() < 0.018, "{fair}");
        assert!((share(same, firsts.len() - 1) - 0.5).abs() < 0.018);
    }
}
