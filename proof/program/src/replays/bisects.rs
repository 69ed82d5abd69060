//! Searches for a planted commit, on stored noise.

use rand::Rng;
use rand_pcg::Pcg64;

use super::{Noise, Pair, Row, Target, generator, nth, pairs};
use lab_compare::bisect::{Bisect, BisectSettings, Confirmation, End, Step};

/// Commits after good.
const COMMITS: usize = 64;
/// What the planted commit adds to the time, as a share of it.
const EFFECT: f64 = 0.03;
/// What it adds where the noise hides that: this many robust standard deviations of a pair.
const EFFECT_SDS: f64 = 0.5;
/// The share of commits that do not build, in the searches that have such.
const BROKEN: f64 = 0.1;

/// How often each search is tried.
#[derive(Clone, Copy, Debug)]
pub struct BisectSize {
    /// Searches of a kind.
    pub searches: usize,
    /// Pairs after which a comparison ends.
    pub pairs: usize,
}

impl BisectSize {
    /// A minute of work.
    pub const FULL: BisectSize = BisectSize { searches: 1_000, pairs: 3_000 };
    /// Seconds of it, for a test.
    #[cfg(test)]
    pub const SMALL: BisectSize = BisectSize { searches: 40, pairs: 3_000 };
}

/// A finished search.
struct Search {
    end: End,
    pairs: usize,
}

/// What the commits of a search are.
struct Planted {
    /// The first slow commit; none where nothing is slow.
    commit: Option<usize>,
    /// By how much it is slow, as a factor.
    factor: f64,
    /// Commits that do not build.
    broken: Vec<bool>,
}

impl Planted {
    fn is_slow(&self, commit: usize) -> bool {
        self.commit.is_some_and(|slow| commit >= slow)
    }

    /// Whether the end names the planted commit, or the shortest range that can be named.
    fn is_found(&self, end: End) -> bool {
        let End::Found { after, commit, confirmation: Confirmation::Shown } = end else {
            return false;
        };
        let between_is_broken = (after + 1..commit).all(|between| self.broken[between]);
        !self.is_slow(after) && self.is_slow(commit) && between_is_broken
    }

    /// Whether the end names a commit and the planted one is another.
    fn is_missed(&self, end: End) -> bool {
        let End::Found { after, commit, .. } = end else { return false };
        self.is_slow(after) || !self.is_slow(commit)
    }
}

/// Every line of the proof of searches on one recording, each as soon as it is known.
pub fn bisects(noise: &Noise, size: BisectSize, seed: u64, tell: &mut dyn FnMut(Row)) {
    let alpha = BisectSettings::default().alpha;
    let found = Target::AtLeast(0.95);
    // As large as a search of this size can find, so that all that is counted can happen.
    let visible = EFFECT.max(EFFECT_SDS * noise.pair_sd());
    kind(noise, size, [visible, 0.0], found, seed, tell);
    kind(noise, size, [visible, BROKEN], found, seed, tell);
    if visible > EFFECT {
        kind(noise, size, [EFFECT, 0.0], Target::Beside, seed, tell);
    }
    let seen = (0..size.searches).filter(|number| {
        let broken = vec![false; COMMITS + 1];
        let nothing = Planted { commit: None, factor: 1.0, broken };
        !matches!(run(noise, size, &nothing, seed, *number).end, End::NoChange)
    });
    let what = format!("{COMMITS} commits, no change: a change is seen");
    tell(Row::new(noise, what, seen.count(), size.searches, Target::AtMost(alpha)));
}

/// Searches for a commit of this effect, with this share of commits that do not build.
fn kind(
    noise: &Noise,
    size: BisectSize,
    [effect, broken]: [f64; 2],
    target: Target,
    seed: u64,
    tell: &mut dyn FnMut(Row),
) {
    let searches: Vec<(Planted, Search)> = (0..size.searches)
        .map(|number| {
            let planted = plant(effect, broken, &mut generator(!seed, number));
            let search = run(noise, size, &planted, seed, number);
            (planted, search)
        })
        .collect();
    let name = format!(
        "{COMMITS} commits, +{:.1} % at a random one{}",
        100.0 * effect,
        if broken > 0.0 { ", 1 of 10 broken" } else { "" }
    );
    let mut count = |what: &str, target, hit: &dyn Fn(&(Planted, Search)) -> bool| {
        let hits = searches.iter().filter(|search| hit(search)).count();
        tell(Row::new(noise, format!("{name}: {what}"), hits, searches.len(), target));
    };
    let pairs: Vec<f64> = searches.iter().map(|(_, search)| search.pairs as f64).collect();
    let [half, most] = [0.5, 0.95].map(|part| nth(pairs.clone(), part, pairs.len()));
    let right = format!("found and confirmed (half of all end by pair {half}, 95 % by {most})");
    count(&right, target, &|(planted, search)| planted.is_found(search.end));
    let wrong = |(planted, search): &(Planted, Search)| planted.is_missed(search.end);
    count("another commit named", Target::AtMost(BisectSettings::default().alpha), &wrong);
    let open = |search: &Search| matches!(search.end, End::Unknown { .. } | End::NoChange);
    count("no answer", Target::Beside, &|(_, search)| open(search));
}

fn plant(effect: f64, broken: f64, rng: &mut Pcg64) -> Planted {
    let commit = rng.random_range(1..=COMMITS);
    // Good and bad build: else there is nothing to search between.
    let ends = [0, COMMITS];
    let broken = (0..=COMMITS).map(|at| !ends.contains(&at) && rng.random_bool(broken)).collect();
    Planted { commit: Some(commit), factor: 1.0 + effect, broken }
}

fn run(noise: &Noise, size: BisectSize, planted: &Planted, seed: u64, number: usize) -> Search {
    let settings = BisectSettings { most_pairs: Some(size.pairs), ..BisectSettings::default() };
    let mut bisect = Bisect::new(COMMITS, settings).expect("the replays' settings are valid");
    let factor = |commit| if planted.is_slow(commit) { planted.factor } else { 1.0 };
    let mut draws = pairs(noise, seed, number);
    let mut spent = 0;
    loop {
        match bisect.step() {
            Step::Build(commit) if planted.broken[commit] => bisect.broken(commit),
            // Every commit's program has bytes of its own.
            Step::Build(commit) => bisect.built(commit, &commit.to_string()),
            Step::Pair { reference, candidate } => {
                let Pair { times: [a, b], b_ran_last } = draws.next().expect("noise without end");
                let times = [a * factor(reference), b * factor(candidate)];
                bisect.pair(times, b_ran_last, 0.0);
                spent += 1;
            }
            Step::End(end) => return Search { end, pairs: spent },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow from the fifth of eight commits on, of which the fourth and the sixth do not build.
    fn planted() -> Planted {
        let broken = (0..=8).map(|commit| commit == 4 || commit == 6).collect();
        Planted { commit: Some(5), factor: 1.03, broken }
    }

    #[test]
    fn a_named_commit_is_right_where_only_broken_ones_lie_between() {
        for (after, commit, found, missed) in [
            (3, 5, true, false),
            (2, 5, false, false),
            (3, 7, false, false),
            (5, 7, false, true),
            (5, 6, false, true),
            (1, 3, false, true),
        ] {
            let end = |confirmation| End::Found { after, commit, confirmation };
            let shown = end(Confirmation::Shown);
            assert_eq!(planted().is_found(shown), found, "{after} {commit}");
            assert_eq!(planted().is_missed(shown), missed, "{after} {commit}");
            let open = end(Confirmation::Open);
            assert!(!planted().is_found(open));
            assert_eq!(planted().is_missed(open), missed, "{after} {commit}");
        }
        assert!(!planted().is_found(End::NoChange) && !planted().is_missed(End::NoChange));
    }

    #[test]
    fn good_and_bad_build_and_some_of_the_others_do_not() {
        let plant = |number| plant(0.03, 0.5, &mut generator(1, number));
        for number in 0..50 {
            let Planted { commit, factor, broken } = plant(number);
            assert!((1..=COMMITS).contains(&commit.unwrap()) && factor == 1.03);
            assert!(broken.len() == COMMITS + 1 && !broken[0] && !broken[COMMITS]);
            let count = broken.iter().filter(|broken| **broken).count();
            assert!((12..52).contains(&count), "{count}");
        }
    }
}
