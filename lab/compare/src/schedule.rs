//! The order of each round, and the layout that its runs share.

use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// The largest padding of the environment, which lies above the stack: a page covers every place
/// of the stack's data against lines and sets of a cache.
const ENVIRONMENT_BYTES: u16 = 4096;
/// The longest name of a folder that every Linux file system takes (`NAME_MAX`).
const PATH_BYTES: u8 = 255;

/// Where a run's memory lies, as far as the starter decides on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Bytes added to the environment.
    pub environment_bytes: u16,
    /// Bytes added to the name of the working folder; 0 adds none. Files of before lack it.
    #[serde(default)]
    pub path_bytes: u8,
    /// The build whose programs run, where each revision has several.
    #[serde(default, skip_serializing_if = "is_first")]
    pub build: u16,
}

/// Rounds without other builds say nothing of them.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_first(build: &u16) -> bool {
    *build == 0
}

/// One round before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundPlan {
    /// The commands in the order in which they run: 0 is the reference, the last one the control.
    /// Of a duet it is the order of its pairs, of which each holds the command of the first half
    /// of the processors and that of the second.
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
    /// A generator of its own, so that a seed draws the orders that it drew before paths varied.
    paths: Pcg64,
    commands: usize,
    /// Commands that run at once.
    together: usize,
    /// Another one, so that orders are the same with and without several builds.
    of_builds: Pcg64,
    builds: u16,
}

impl Schedule {
    /// Rounds of so many commands.
    pub fn new(seed: u64, commands: usize) -> Self {
        let [rng, paths, of_builds] =
            [seed, !seed, seed.rotate_left(32) ^ 1].map(Pcg64::seed_from_u64);
        Self { rng, paths, commands, together: 1, of_builds, builds: 1 }
    }

    /// Each round is of one of so many builds, each with the same probability.
    #[must_use]
    pub fn with_builds(self, builds: u16) -> Self {
        Self { builds: builds.max(1), ..self }
    }

    /// Rounds of so many pairs of commands that run at once: each pair stays together, and its
    /// coin says which of the two has which place.
    pub fn duets(seed: u64, pairs: usize) -> Self {
        Self { together: 2, ..Self::new(seed, 2 * pairs) }
    }
}

impl Iterator for Schedule {
    type Item = RoundPlan;

    fn next(&mut self) -> Option<RoundPlan> {
        let commands: Vec<usize> = (0..self.commands).collect();
        let mut groups: Vec<Vec<usize>> =
            commands.chunks(self.together).map(<[usize]>::to_vec).collect();
        groups.shuffle(&mut self.rng);
        groups.iter_mut().for_each(|group| group.shuffle(&mut self.rng));
        let order = groups.concat();
        let environment_bytes = self.rng.random_range(0..=ENVIRONMENT_BYTES);
        let path_bytes = self.paths.random_range(1..=PATH_BYTES);
        let build = self.of_builds.random_range(0..self.builds);
        let layout = Layout { environment_bytes, path_bytes, build };
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

    /// A record names its seed, which has to give these rounds in every later version.
    #[test]
    fn a_seed_gives_the_rounds_that_it_always_gave() {
        let plan = |order: &[usize], environment_bytes, path_bytes, build| RoundPlan {
            order: order.to_vec(),
            layout: Layout { environment_bytes, path_bytes, build },
        };
        let expected = [
            plan(&[1, 2, 0], 1361, 18, 0),
            plan(&[0, 2, 1], 266, 23, 0),
            plan(&[0, 2, 1], 3447, 35, 3),
        ];
        assert!(Schedule::new(7, 3).with_builds(5).take(3).eq(expected));
        let no_builds = Schedule::new(0, 2).with_builds(0).next();
        assert_eq!(no_builds, Some(plan(&[0, 1], 700, 72, 0)));
    }

    #[test]
    fn a_layout_names_no_build_where_it_is_the_first() {
        let layout = |build| Layout { environment_bytes: 3, path_bytes: 2, build };
        let json = |build| serde_json::to_string(&layout(build)).unwrap();
        assert_eq!(json(0), r#"{"environment_bytes":3,"path_bytes":2}"#);
        assert_eq!(json(1), r#"{"environment_bytes":3,"path_bytes":2,"build":1}"#);
    }

    #[test]
    fn builds_are_drawn_evenly_and_change_no_order() {
        let with = Schedule::new(3, 2).with_builds(4).take(8_000).collect::<Vec<_>>();
        let orders = |rounds: &[RoundPlan]| {
            rounds.iter().map(|round| round.order.clone()).collect::<Vec<_>>()
        };
        let without = Schedule::new(3, 2).take(8_000).collect::<Vec<_>>();
        assert_eq!(orders(&with), orders(&without));
        for build in 0..4 {
            let drawn = with.iter().filter(|round| round.layout.build == build).count();
            // Five standard errors of a quarter of 8,000.
            assert!((1_800..2_200).contains(&drawn), "{drawn}");
        }
        assert!(without.iter().all(|round| round.layout.build == 0));
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

    #[test]
    fn a_round_of_duets_has_both_of_each_pair() {
        let mut order = Schedule::duets(3, 3).next().unwrap().order;
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn each_pair_of_a_duet_has_a_coin_of_its_own_and_stays_together() {
        let rounds: Vec<RoundPlan> = Schedule::duets(3, 2).take(20_000).collect();
        let place = |round: &RoundPlan, command| round.order.iter().position(|c| *c == command);
        let share = |of: fn(&[usize]) -> bool| {
            let hits = rounds.iter().filter(|round| of(&round.order)).count();
            hits as f64 / rounds.len() as f64
        };
        for round in &rounds {
            let pairs = [[0, 1], [2, 3]].map(|pair| pair.map(|command| place(round, command)));
            assert!(pairs.iter().all(|[a, b]| a.unwrap() / 2 == b.unwrap() / 2), "{round:?}");
        }
        let first_of =
            |order: &[usize], pair: usize| order.iter().find(|c| *c / 2 == pair).copied();
        let coins: Vec<(bool, bool)> = rounds
            .iter()
            .map(|round| {
                (first_of(&round.order, 0) == Some(0), first_of(&round.order, 1) == Some(2))
            })
            .collect();
        let both = coins.iter().filter(|(a, b)| a == b).count() as f64 / coins.len() as f64;
        assert!((share(|order| order[0] < 2) - 0.5).abs() < 0.018);
        assert!((both - 0.5).abs() < 0.018, "{both}");
    }
}
