//! Many attempts at making nothing faster: with an error level that is shared, hardly ever is one
//! of them called a success; without, often.

use lab_compare::{Comparison, Next, Schedule, Settings};
use lab_stats::multiple::spent_on;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const SEQUENCES: usize = 1_000;
const ATTEMPTS: u64 = 50;
/// Enough for a comparison to be wrong in: most errors come early.
const ROUNDS: usize = 40;
/// High, so that the share of errors can be told from 0.
const ALPHA: f64 = 0.2;

/// Whether a comparison of a command with itself calls it faster or slower. The machine's speed
/// walks, as machines' do; every fifth run is hit by something.
fn is_fooled(alpha: f64, rng: &mut Pcg64) -> bool {
    let settings = Settings { alpha, budget_s: 0.0, least_rounds: ROUNDS, ..Settings::default() };
    let mut comparison = Comparison::new(settings, &["wall"]).unwrap();
    let mut speed = 0.0;
    for round in Schedule::new(rng.random(), 2) {
        let mut runs = vec![Vec::new(); 2];
        for place in round.order.clone() {
            speed += rng.random_range(-0.002..0.002);
            let hit = if rng.random_bool(0.2) { rng.random_range(0.0..0.1) } else { 0.0 };
            let noise: f64 = rng.random_range(-0.01..0.01);
            runs[place] = vec![(speed + hit + noise).exp()];
        }
        if comparison.add(&round.order, &runs, 0.0).unwrap() != Next::Round {
            break;
        }
    }
    let estimate = comparison.state().candidates.remove(0).metrics.remove(0).estimate;
    estimate.and_then(|it| it.interval).is_some_and(|[low, high]| low > 0.0 || high < 0.0)
}

/// The share of sequences of attempts in which one is fooled.
fn fooled(sequences: usize, level: impl Fn(u64) -> f64) -> f64 {
    let mut rng = Pcg64::seed_from_u64(7);
    let fooled = (0..sequences)
        .filter(|_| (1..=ATTEMPTS).any(|attempt| is_fooled(level(attempt), &mut rng)));
    fooled.count() as f64 / sequences as f64
}

#[test]
fn fifty_attempts_together_err_no_more_often_than_allowed() {
    let share = fooled(SEQUENCES, |attempt| spent_on(attempt, ALPHA).unwrap());
    let tolerance = |tries: usize| 3.0 * (ALPHA * (1.0 - ALPHA) / tries as f64).sqrt();
    assert!(share <= ALPHA + tolerance(SEQUENCES), "{share}");
    // Each at the whole level: what the sharing prevents.
    let few = SEQUENCES / 10;
    let unshared = fooled(few, |_| ALPHA);
    assert!(unshared > ALPHA + tolerance(few), "{share} {unshared}");
}
