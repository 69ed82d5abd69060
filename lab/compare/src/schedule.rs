//! The order of each round, and the layout that its runs share.

use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// The largest padding of the environment, which lies above the stack: a page covers every place
/// of the stack's data against lines and sets of a cache.
const ENVIRONMENT_BYTES: u16 = 4096;
/// The longest name of a folder that every Linux file system takes (`NAME_MAX`).
const PATH_BYTES: u8 = 255;

/// What a draw may add at most.
pub const FARTHEST: Layout =
    Layout { environment_bytes: ENVIRONMENT_BYTES, path_bytes: PATH_BYTES, build: 0 };

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
    /// What runs first and does not count, so that no run of the round follows one of another
    /// question: one of the round's own commands, each with the same probability, or of a duet both
    /// in an order of their own. Empty where the round before had the same commands.
    pub wash: Vec<usize>,
    /// The commands in the order in which they run, each once: 0 is the reference. Of a duet the
    /// first has the first half of the processors.
    pub order: Vec<usize>,
    /// What all runs of the round share, so that it is noise between rounds and never a bias.
    pub layout: Layout,
}

/// Which commands are asked side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// Of each question its commands; a round is of one question, each with the same probability.
    pub questions: Vec<Vec<usize>>,
    /// The reference and its copy: one round in [`CONTROLS`] is theirs.
    pub control: Option<[usize; 2]>,
    /// Whether the two commands of a round run at once.
    pub duet: bool,
}

/// One round in so many is of the control, where there is one.
pub const CONTROLS: u32 = 3;

impl Design {
    /// So many commands, all in each round.
    pub fn all(commands: usize) -> Self {
        Self { questions: vec![(0..commands).collect()], control: None, duet: false }
    }
}

/// Rounds without end, drawn from a seed: every order has the same probability, whatever came
/// before. Each command runs once, so that what a run leaves to the next treats all alike: with
/// the reference twice in a round it would follow itself in 5/9 of its runs and a candidate in
/// 1/9. Orders that balance each other would void the proof, which takes the coin of a pair to be
/// independent of all earlier ones.
#[derive(Clone, Debug)]
pub struct Schedule {
    rng: Pcg64,
    /// A generator of its own, so that a seed draws the orders that it drew before paths varied.
    paths: Pcg64,
    /// Another one, so that orders are the same with and without several builds.
    of_builds: Pcg64,
    builds: u16,
    /// Another one, so that no wash tells anything of an order.
    washes: Pcg64,
    design: Design,
    /// The question of the round before, by its place; the control's is beyond all. `None` where
    /// something else ran since.
    last: Option<usize>,
}

impl Schedule {
    /// Rounds of so many commands, all in each.
    pub fn new(seed: u64, commands: usize) -> Self {
        Self::of(seed, Design::all(commands))
    }

    /// Rounds of a design.
    pub fn of(seed: u64, design: Design) -> Self {
        let [rng, paths, of_builds, washes] =
            [seed, !seed, seed.rotate_left(32) ^ 1, seed.rotate_left(16) ^ 2]
                .map(Pcg64::seed_from_u64);
        Self { rng, paths, of_builds, builds: 1, washes, design, last: None }
    }

    /// Each round is of one of so many builds, each with the same probability.
    #[must_use]
    pub fn with_builds(self, builds: u16) -> Self {
        Self { builds: builds.max(1), ..self }
    }

    /// The rounds after so many, which ran earlier: something else ran since.
    #[must_use]
    pub fn after(mut self, rounds: usize) -> Self {
        self.by_ref().take(rounds).for_each(drop);
        self.interrupt();
        self
    }

    /// Something else runs before the next round.
    pub fn interrupt(&mut self) {
        self.last = None;
    }

    /// The question of the next round. Where there is but one, no number is drawn for it.
    fn question(&mut self) -> (usize, Vec<usize>) {
        let Design { questions, control, .. } = &self.design;
        if let Some(control) = control
            && self.washes.random_ratio(1, CONTROLS)
        {
            return (questions.len(), control.to_vec());
        }
        let place = match questions.len() {
            1 => 0,
            several => self.washes.random_range(0..several),
        };
        (place, questions[place].clone())
    }

    fn wash(&mut self, commands: &[usize]) -> Vec<usize> {
        let mut wash = commands.to_vec();
        wash.shuffle(&mut self.washes);
        if !self.design.duet {
            wash.truncate(1);
        }
        wash
    }
}

impl Iterator for Schedule {
    type Item = RoundPlan;

    fn next(&mut self) -> Option<RoundPlan> {
        let (question, mut order) = self.question();
        let is_new = self.last.replace(question) != Some(question);
        let wash = if is_new { self.wash(&order) } else { Vec::new() };
        order.shuffle(&mut self.rng);
        let environment_bytes = self.rng.random_range(0..=ENVIRONMENT_BYTES);
        let path_bytes = self.paths.random_range(1..=PATH_BYTES);
        let build = self.of_builds.random_range(0..self.builds);
        let layout = Layout { environment_bytes, path_bytes, build };
        Some(RoundPlan { wash, order, layout })
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
    }

    #[test]
    fn rounds_that_go_on_are_the_same_and_the_first_of_them_is_washed() {
        let all: Vec<RoundPlan> = Schedule::new(7, 3).take(20).collect();
        let rest: Vec<RoundPlan> = Schedule::new(7, 3).after(5).take(15).collect();
        assert_eq!(rest[1..], all[6..]);
        assert_eq!((&rest[0].order, rest[0].layout), (&all[5].order, all[5].layout));
        assert!(all[5].wash.is_empty() && rest[0].wash.len() == 1, "{rest:?}");
    }

    /// A record names its seed, which has to give these rounds in every later version.
    #[test]
    fn a_seed_gives_the_rounds_that_it_always_gave() {
        let plan = |wash: &[usize], order: &[usize], environment_bytes, path_bytes, build| {
            let layout = Layout { environment_bytes, path_bytes, build };
            RoundPlan { wash: wash.to_vec(), order: order.to_vec(), layout }
        };
        let expected = [
            plan(&[0], &[1, 2, 0], 1361, 18, 0),
            plan(&[], &[0, 2, 1], 266, 23, 0),
            plan(&[], &[0, 2, 1], 3447, 35, 3),
        ];
        let found: Vec<RoundPlan> = Schedule::new(7, 3).with_builds(5).take(3).collect();
        assert_eq!(found, expected);
        let no_builds = Schedule::new(0, 2).with_builds(0).next();
        assert_eq!(no_builds, Some(plan(&[0], &[0, 1], 700, 72, 0)));
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
    fn one_round_in_three_is_the_controls_and_every_change_is_washed() {
        let design =
            Design { questions: vec![vec![0, 1], vec![0, 2]], control: Some([0, 3]), duet: false };
        let rounds: Vec<RoundPlan> = Schedule::of(5, design).take(9_000).collect();
        let asked = |round: &RoundPlan| round.order.iter().copied().max().unwrap();
        for question in 1..=3 {
            let drawn = rounds.iter().filter(|round| asked(round) == question).count();
            // Five standard errors of a third of 9,000.
            assert!((2_776..3_224).contains(&drawn), "{drawn}");
        }
        for pair in rounds.windows(2) {
            assert_eq!(pair[1].wash.is_empty(), asked(&pair[0]) == asked(&pair[1]), "{pair:?}");
        }
        let washed: Vec<&RoundPlan> =
            rounds.iter().filter(|round| !round.wash.is_empty()).collect();
        assert!(washed.iter().all(|round| round.order.contains(&round.wash[0])));
        // Whatever a round's first run is, the wash is as often the same as not.
        let same = washed.iter().filter(|round| round.wash[0] == round.order[0]).count();
        let share = same as f64 / washed.len() as f64;
        assert!((share - 0.5).abs() < 0.033, "{share}");
    }

    #[test]
    fn a_duet_is_washed_by_a_duet() {
        let design = Design { duet: true, ..Design::all(2) };
        let mut wash = Schedule::of(3, design).next().unwrap().wash;
        wash.sort_unstable();
        assert_eq!(wash, [0, 1]);
    }
}
