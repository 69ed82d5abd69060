//! Are claims over builds as seldom wrong as they say? Seeded comparisons whose truth is known.

use lab_compare::{Schedule, over_builds};
use lab_stats::sequence::Sequence;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const COMPARISONS: usize = 2_000;
const ROUNDS: usize = 200;
const ALPHA: f64 = 0.01;
/// Two standard errors of a share of one in a hundred.
const TOLERANCE: f64 = 0.0045;

/// Irwin and Hall's sum of twelve: near enough to normal.
fn normal(rng: &mut Pcg64) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Pairs of one comparison until it excludes 0 or has had all rounds; whether it did.
fn compared(builds: &[f64], seed: u64) -> (Vec<(usize, f64)>, bool) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut sequence = Sequence::new(ALPHA, &[0.0]).unwrap();
    let mut pairs = Vec::new();
    let schedule = Schedule::new(seed, 2).with_builds(u16::try_from(builds.len()).unwrap());
    for plan in schedule.take(ROUNDS) {
        let build = usize::from(plan.layout.build);
        pairs.push((build, builds[build] + 0.01 * normal(&mut rng)));
        sequence.push(pairs[pairs.len() - 1].1);
        if sequence.excludes(0.0) {
            return (pairs, true);
        }
    }
    (pairs, false)
}

/// The builds are new in each comparison, and on average neither is faster. The comparison stops
/// when its own sequence excludes 0, which is what happens outside of this test too.
#[test]
fn the_interval_over_builds_misses_as_seldom_as_it_says() {
    for between in [0.0, 0.003, 0.01] {
        let missed = (0..COMPARISONS as u64).filter(|seed| {
            let mut rng = Pcg64::seed_from_u64(!seed);
            let builds: Vec<f64> = (0..20).map(|_| between * normal(&mut rng)).collect();
            let found = over_builds(&compared(&builds, *seed).0, builds.len(), ALPHA);
            let over = found.and_then(|found| found.over_builds);
            over.is_some_and(|over| over.interval[0] > 0.0 || over.interval[1] < 0.0)
        });
        let share = missed.count() as f64 / COMPARISONS as f64;
        assert!(share <= ALPHA + TOLERANCE, "SD {between} between builds: {share}");
    }
}

/// One of five builds is faster by as much as the other four are slower together.
#[test]
fn builds_that_cancel_each_other_are_seldom_called_different() {
    let builds = [0.0025, 0.0025, 0.0025, 0.0025, -0.01];
    let called = (0..COMPARISONS as u64).filter(|seed| compared(&builds, *seed).1);
    let share = called.count() as f64 / COMPARISONS as f64;
    assert!(share <= ALPHA + TOLERANCE, "{share}");
}

#[test]
fn the_part_of_the_variance_that_builds_carry_is_found() {
    let mut rng = Pcg64::seed_from_u64(1);
    let builds: Vec<f64> = (0..40).map(|_| 0.02 * normal(&mut rng)).collect();
    let pairs: Vec<(usize, f64)> =
        (0..4_000).map(|at| (at % 40, builds[at % 40] + 0.01 * normal(&mut rng))).collect();
    let found = over_builds(&pairs, 40, ALPHA).unwrap();
    assert!((0.6..0.95).contains(&found.share), "{found:?}");
    assert!((0.008..0.012).contains(&found.within_sd), "{found:?}");
    // A hiccup of one build is clipped and is no build that differs.
    let same: Vec<(usize, f64)> = (0..400)
        .map(|at| (at % 4, 0.01 * normal(&mut rng) + if at == 8 { 5.0 } else { 0.0 }))
        .collect();
    let found = over_builds(&same, 4, ALPHA).unwrap();
    assert!(found.share < 0.1 && found.over_builds.is_none(), "{found:?}");
}

#[test]
fn without_pairs_nothing_is_said() {
    assert_eq!(over_builds(&[], 3, ALPHA), None);
    assert_eq!(over_builds(&[(0, 0.1), (0, 0.2)], 3, ALPHA), None);
    assert_eq!(over_builds(&[(0, 0.1), (7, 0.2), (0, 0.1)], 3, ALPHA), None);
    assert_eq!(over_builds(&[(0, f64::NAN), (1, 0.2)], 3, ALPHA), None);
}
