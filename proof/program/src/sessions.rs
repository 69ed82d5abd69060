//! How often intervals over sessions hold the truth, and how often the next session finds what was
//! foretold: drawn sessions, of which it is known how much they differ.

use clap::{Args, value_parser};
use lab_stats::by_session::over_sessions;
use lab_stats::sessions::{SessionEstimate, Sessions};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const COUNTS: [usize; 6] = [2, 3, 4, 6, 10, 20];
/// Of true values of sessions, in standard errors of a session's estimate.
const BETWEEN: [f64; 5] = [0.0, 0.5, 1.2, 2.0, 5.0];
const CONFIDENCE: f64 = 0.95;
/// What every cell is to hold.
const LEAST: f64 = 0.93;
/// What cells of many sessions that differ are not to exceed.
const MOST: f64 = 0.97;
/// Pairs of the sessions that are made of pairs.
const PAIRS: [usize; 2] = [2, 10];

#[derive(Args)]
pub(crate) struct SessionsArgs {
    /// Sessions drawn anew for each cell so often
    #[arg(long, default_value_t = 20_000, value_parser = value_parser!(u32).range(100..))]
    tries: u32,
    /// The seed of what is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What a session's estimate is made of.
#[derive(Clone, Copy)]
enum Made {
    /// A normal draw of a known variance, the largest so many times the smallest.
    Known { ratio: f64 },
    /// Known, the first session ten times as precise as the others.
    OnePrecise,
    /// Pairs with a hiccup in twenty, in every second session with three times the noise, as `lab
    /// compare` takes them.
    Pairs(usize),
}

impl Made {
    fn name(self) -> String {
        match self {
            Self::Known { ratio } => format!("variances 1 to {ratio}"),
            Self::OnePrecise => "one variance 0.1, others 1".to_owned(),
            Self::Pairs(pairs) => format!("{pairs} pairs each, noise 1 or 3"),
        }
    }
}

/// Prints a row for each way that sessions are made and each number of them: the smallest coverage
/// over all amounts by which they differ.
pub(crate) fn run(args: &SessionsArgs) {
    println!("sessions\tof\tinterval_least\tinterval_most\tnext_least\ttarget\tmet");
    let known = [1.0, 10.0].map(|ratio| Made::Known { ratio });
    for made in known.into_iter().chain([Made::OnePrecise]).chain(PAIRS.map(Made::Pairs)) {
        for count in COUNTS {
            let mut rng = Pcg64::seed_from_u64(args.seed ^ count as u64);
            let cells = BETWEEN.map(|between| held(made, count, between, args.tries, &mut rng));
            row(made, count, &cells);
        }
    }
}

fn row(made: Made, count: usize, cells: &[[f64; 2]; BETWEEN.len()]) {
    let least = |which: usize| cells.iter().map(|cell| cell[which]).fold(1.0, f64::min);
    let differ = cells.iter().zip(BETWEEN).filter(|(_, between)| *between >= 1.2);
    let most = differ.map(|(cell, _)| cell[0]).fold(0.0, f64::max);
    // Known variances are what the bar above is for: heavy tails are told wider.
    let bounded = count >= 10 && matches!(made, Made::Known { .. });
    let target = if bounded { "93 to 97 %" } else { "at least 93 %" };
    let met = least(0).min(least(1)) >= LEAST && (!bounded || most <= MOST);
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    println!(
        "{count}\t{}\t{}\t{}\t{}\t{target}\t{}",
        made.name(),
        percent(least(0)),
        percent(most),
        percent(least(1)),
        if met { "yes" } else { "no" }
    );
}

/// The shares of intervals that hold the mean, 0, and of those that hold the next session's
/// estimate.
fn held(made: Made, count: usize, between: f64, tries: u32, rng: &mut Pcg64) -> [f64; 2] {
    let (mut held, mut foretold) = (0_u32, 0_u32);
    for _ in 0..tries {
        let (found, next) = match made {
            Made::Pairs(pairs) => of_pairs(pairs, count, between, rng),
            _ => of_known(made, count, between, rng),
        };
        let [low, high] = found.interval;
        held += u32::from(low <= 0.0 && 0.0 <= high);
        let [low, high] = found.prediction;
        foretold += u32::from(low <= next && next <= high);
    }
    [held, foretold].map(|count| f64::from(count) / f64::from(tries))
}

fn of_known(made: Made, count: usize, between: f64, rng: &mut Pcg64) -> (Sessions, f64) {
    let variance = |at: usize, rng: &mut Pcg64| match made {
        Made::Known { ratio } => ratio.powf(rng.random()),
        _ if at == 0 => 0.1,
        _ => 1.0,
    };
    let variances: Vec<f64> = (0..=count).map(|at| variance(at, rng)).collect();
    let mean = variances[..count].iter().sum::<f64>() / count as f64;
    let tau = between * mean.sqrt();
    let mut one = |variance: f64| SessionEstimate {
        value: tau * normal(rng) + variance.sqrt() * normal(rng),
        variance,
    };
    let all: Vec<SessionEstimate> = variances.iter().map(|variance| one(*variance)).collect();
    let over = Sessions::over(&all[..count], f64::INFINITY, CONFIDENCE);
    (over.expect("two sessions and more"), all[count].value)
}

fn of_pairs(pairs: usize, count: usize, between: f64, rng: &mut Pcg64) -> (Sessions, f64) {
    // The mean variance of one and three times the noise is 5.
    let tau = between * (5.0 / pairs as f64).sqrt();
    let mut all = Vec::new();
    for session in 0..=count {
        let offset = tau * normal(rng);
        // Of the next session either noise.
        let noisy = if session == count { rng.random() } else { session % 2 == 1 };
        let noise = if noisy { 3.0 } else { 1.0 };
        for _ in 0..pairs {
            let hiccup = if rng.random_ratio(1, 20) { 5.0 * normal(rng) } else { 0.0 };
            all.push((session, offset + noise * (normal(rng) + hiccup)));
        }
    }
    let of = |sessions: usize| over_sessions(&all[..sessions * pairs], sessions, 1.0 - CONFIDENCE);
    let (over, next) = (of(count).over, of(count + 1).each[count].value);
    (over.expect("two sessions and more"), next)
}

/// A normal draw, by Box and Muller's transformation.
fn normal(rng: &mut Pcg64) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
