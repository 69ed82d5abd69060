//! Do the intervals cover and the tests err as often as they say? Thousands of seeded samples
//! from distributions whose truth is known.

use lab_stats::{equivalence, interval, paired, studentised::Studentised, unpaired};
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, LogNormal, StandardNormal};
use rand_pcg::Pcg64;
use statrs::distribution::{ContinuousCDF, StudentsT};

const SAMPLES: usize = 3_000;

fn draws(count: usize, from: impl Distribution<f64>, rng: &mut Pcg64) -> Vec<f64> {
    (0..count).map(|_| from.sample(rng)).collect()
}

/// The share of `times` trials that succeed, with a generator seeded once.
fn share(times: usize, seed: u64, mut trial: impl FnMut(&mut Pcg64) -> bool) -> f64 {
    let mut rng = Pcg64::seed_from_u64(seed);
    (0..times).filter(|_| trial(&mut rng)).count() as f64 / times as f64
}

/// Three standard errors of a share near `p` in `times` trials.
fn tolerance(p: f64, times: usize) -> f64 {
    3.0 * (p * (1.0 - p) / times as f64).sqrt()
}

fn holds(interval: interval::Interval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

/// Skewed values: the interval needs no symmetry, and attains what it reports.
#[test]
fn median_intervals_cover_as_they_report() {
    let latency = LogNormal::new(3.0, 1.0).unwrap();
    for n in [6, 7, 12, 31] {
        let mut attained = 0.0;
        let covered = share(SAMPLES, n as u64, |rng| {
            let found = interval::median_interval(&draws(n, latency, rng), 0.95).unwrap();
            attained = found.confidence;
            holds(found, 3.0_f64.exp())
        });
        assert!(attained >= 0.95);
        assert!((covered - attained).abs() < tolerance(attained, SAMPLES), "{n}: {covered}");
    }
}

/// Exact to n = 50, approximate beyond: both attain what they report.
#[test]
fn paired_intervals_cover_as_they_report() {
    for n in [6, 10, 36, 60] {
        let mut attained = 0.0;
        let covered = share(SAMPLES, n as u64, |rng| {
            let shift = paired::hodges_lehmann(&draws(n, StandardNormal, rng), 0.95).unwrap();
            let found = shift.interval.unwrap();
            attained = found.confidence;
            holds(found, 0.0)
        });
        assert!(attained >= 0.95);
        assert!((covered - attained).abs() < tolerance(attained, SAMPLES), "{n}: {covered}");
    }
}

/// Under the null a p-value is at most p with probability p, and nearly so with equality.
#[test]
fn p_values_are_uniform_without_a_difference() {
    let times = 1_000;
    let mut of_flips = Vec::new();
    let mut of_welch = Vec::new();
    let mut rng = Pcg64::seed_from_u64(11);
    for seed in 0..times {
        let differences = draws(12, StandardNormal, &mut rng);
        of_flips.push(paired::sign_flip_test(&differences, seed).unwrap());
        let (a, b) = (draws(8, StandardNormal, &mut rng), draws(15, StandardNormal, &mut rng));
        of_welch.push(unpaired::welch_t(&a, &b).unwrap().p);
    }
    for (name, p_values) in [("flips", of_flips), ("welch", of_welch)] {
        for level in [0.01, 0.05, 0.2, 0.5, 0.8] {
            let below = p_values.iter().filter(|p| **p <= level).count() as f64 / times as f64;
            let allowed = tolerance(level, times as usize) + 0.002;
            assert!((below - level).abs() < allowed, "{name} at {level}: {below}");
        }
    }
}

/// The sampled test too: 40 skew-free differences are beyond enumeration.
#[test]
fn the_sampled_flip_test_keeps_its_level() {
    let times = 500;
    let rejected = share(times, 5, |rng| {
        paired::sign_flip_test(&draws(40, StandardNormal, rng), 9).unwrap() <= 0.05
    });
    assert!((rejected - 0.05).abs() < tolerance(0.05, times), "{rejected}");
}

/// A true difference exactly at the margin is called equivalent in at most alpha of the cases.
#[test]
fn equivalence_is_not_claimed_at_the_margin() {
    let at_margin = share(SAMPLES, 21, |rng| {
        let shifted: Vec<f64> = draws(20, StandardNormal, rng).iter().map(|d| d + 1.5).collect();
        equivalence::equivalent(&shifted, 1.5, 0.05).unwrap().holds
    });
    assert!(at_margin <= 0.05 + tolerance(0.05, SAMPLES), "{at_margin}");
    let centred = share(SAMPLES, 22, |rng| {
        equivalence::equivalent(&draws(20, StandardNormal, rng), 1.5, 0.05).unwrap().holds
    });
    assert!(centred > 0.99, "{centred}");
}

/// Looked at after every pair, whatever the noise: heavy tails, bursts, and signs by a fair coin.
#[test]
fn sequences_exclude_the_truth_as_seldom_as_they_say() {
    let truth = 0.01;
    let excluded = share(SAMPLES, 11, |rng| {
        let mut sequence = lab_stats::sequence::Sequence::new(0.05, &[truth]).unwrap();
        let mut burst = 1.0;
        (0..150).any(|_| {
            burst = if rng.random_bool(0.05) { 30.0 } else { 1.0 + 0.9 * (burst - 1.0) };
            let (sign, size): (f64, f64) =
                (if rng.random() { 1.0 } else { -1.0 }, Exp1.sample(rng));
            sequence.push(truth + sign * 0.01 * burst * size);
            sequence.excludes(truth)
        })
    });
    assert!(excluded < 0.05 + tolerance(0.05, SAMPLES), "{excluded}");
}

/// The shares change from one pair to the next, and half of the time they are far beyond the
/// margin; on average they are at it.
#[test]
fn shares_at_the_margin_are_seldom_called_less_than_it() {
    let called = share(SAMPLES, 12, |rng| {
        let mut shares = lab_stats::shares::Shares::new(0.05).unwrap();
        (0..1_000).any(|at| {
            let more = if at % 2 == 0 { 0.1 } else { 0.0 };
            shares.push([0.02, 0.02 + more].map(|share| rng.random_bool(share)));
            at % 20 == 19 && shares.interval().high < 0.05
        })
    });
    assert!(called < 0.05 + tolerance(0.05, SAMPLES), "{called}");
}

/// The two-sided p-value of Student's test, which takes the variances for equal.
fn pooled_t(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &[f64]| values.iter().map(|x| (x - mean(values)).powi(2)).sum::<f64>();
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let variance = (squares(a) + squares(b)) / (n_a + n_b - 2.0);
    let t = (mean(a) - mean(b)) / (variance * (1.0 / n_a + 1.0 / n_b)).sqrt();
    2.0 * StudentsT::new(0.0, 1.0, n_a + n_b - 2.0).unwrap().cdf(-t.abs())
}

/// Few values of a large variance against more of a small one: a test that pools the variances errs
/// many times too often, and the studentised one does not.
#[test]
fn a_studentised_permutation_test_holds_its_level_where_variances_differ() {
    let (level, tries) = (0.01, 1_000);
    let (mut plain, mut studentised, mut seen) = (0, 0, 0);
    share(tries, 5, |rng| {
        let wide: Vec<f64> = draws(5, StandardNormal, rng).iter().map(|x: &f64| 3.0 * x).collect();
        let narrow: Vec<f64> = draws(15, StandardNormal, rng);
        let test = Studentised::new(&wide, &narrow, level, 1).unwrap();
        let rejected = test.p_value(0.0) <= level;
        studentised += usize::from(rejected);
        plain += usize::from(pooled_t(&wide, &narrow) <= level);
        // The interval is the test's inversion; it takes forty times as long.
        if seen < 30 {
            assert_ne!(rejected, holds(test.interval(level).unwrap(), 0.0));
        }
        seen += 1;
        true
    });
    let of_tries = |count: usize| count as f64 / tries as f64;
    let allowed = level + tolerance(level, tries);
    assert!(of_tries(studentised) <= allowed, "{}", of_tries(studentised));
    assert!(of_tries(plain) > 3.0 * allowed, "{}", of_tries(plain));
}
