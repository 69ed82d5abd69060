//! The proof: comparisons of stored noise, drawn anew thousands of times, beside the rules of other
//! tools on the same noise.
//!
//! A replay draws rounds of neighbouring runs from a recording of one program, gives them to
//! commands in the schedule's random order, multiplies the candidate's times by a known factor, and
//! hands them to a [`Comparison`]. The truth is known, so that wrong answers can be counted.

mod bisects;
mod left;
mod noise;
pub(crate) mod rivals;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Args;
use lab_compare::{Comparison, Estimate, Next, Question, Schedule, Settings, Verdict};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::Serialize;

use lab_stats::{
    outcome::Outcome,
    sequence::Sequence,
    tail::{SHARE_MARGIN, SLOW},
};

pub use bisects::{BisectSize, bisects};
pub use noise::Noise;

#[derive(Args)]
pub(crate) struct ReplaysArgs {
    /// Replays of searches among commits instead
    #[arg(long)]
    bisects: bool,
}

/// Prints the whole table; fails where a target is missed.
pub(crate) fn run(args: &ReplaysArgs) -> ExitCode {
    let mut missed = false;
    println!("{}", Row::HEADER);
    for noise in recordings() {
        eprintln!("{}: robust SD of a pair {:.2} %", noise.name, 100.0 * noise.pair_sd());
        let mut print = |row: Row| {
            missed |= row.met() == Some(false);
            println!("{}", row.tsv());
        };
        match args.bisects {
            true => bisects(&noise, BisectSize::FULL, 1, &mut print),
            false => prove(&noise, Size::FULL, 1, &mut print),
        }
    }
    ExitCode::from(u8::from(missed))
}

/// Pairs of an A/A that is looked at after each of them.
const LOOKS: usize = 300;
/// Runs of each command where they are not interleaved: criterion's number of samples.
const IN_A_ROW: usize = 100;

/// How often each thing is tried.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// A/As that are looked at after every pair.
    pub looks: usize,
    /// Comparisons with a planted difference, and A/As under other tools' rules.
    pub planted: usize,
    /// Rounds after which a comparison ends.
    pub rounds: usize,
}

impl Size {
    /// Minutes of work.
    pub const FULL: Size = Size { looks: 10_000, planted: 2_000, rounds: 1_500 };
    /// Seconds of it, for a test.
    #[cfg(test)]
    pub const SMALL: Size = Size { looks: 200, planted: 30, rounds: 200 };
}

/// What a measured share has to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// At most this, by two Monte Carlo standard errors.
    AtMost(f64),
    /// At least this, by two Monte Carlo standard errors.
    AtLeast(f64),
    /// This, by two Monte Carlo standard errors of a mean.
    Near {
        /// What it should be.
        expected: f64,
        /// The standard error.
        error: f64,
    },
    /// Whatever it is.
    Beside,
}

/// One line of the proof.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The recording.
    pub noise: &'static str,
    /// What was counted.
    pub what: String,
    /// How often it was, as a share.
    pub measured: f64,
    /// Of how many replays.
    pub replays: usize,
    /// What it has to be.
    pub target: Target,
}

impl Row {
    fn new(noise: &Noise, what: impl Into<String>, hits: usize, of: usize, target: Target) -> Self {
        let measured = hits as f64 / of as f64;
        Self { noise: noise.name, what: what.into(), measured, replays: of, target }
    }

    /// The columns of [`Self::tsv`].
    pub const HEADER: &str = "noise\twhat\tmeasured\treplays\ttarget\tmet";

    /// A line of a table.
    pub fn tsv(&self) -> String {
        let target = match self.target {
            Target::AtMost(most) => format!("at most {most}"),
            Target::AtLeast(least) => format!("at least {least}"),
            Target::Near { expected, .. } => format!("about {expected}"),
            Target::Beside => "-".to_owned(),
        };
        let met = self.met().map_or("-", |met| if met { "yes" } else { "no" });
        let Self { noise, what, measured, replays, .. } = self;
        format!("{noise}\t{what}\t{measured:.4}\t{replays}\t{target}\t{met}")
    }

    /// Whether the target is met; `None` without one.
    pub fn met(&self) -> Option<bool> {
        let tolerance = |p: f64| 2.0 * (p * (1.0 - p) / self.replays as f64).sqrt();
        match self.target {
            Target::AtMost(most) => Some(self.measured <= most + tolerance(most)),
            Target::AtLeast(least) => Some(self.measured >= least - tolerance(least)),
            Target::Near { expected, error } => {
                Some((self.measured - expected).abs() <= 2.0 * error)
            }
            Target::Beside => None,
        }
    }
}

/// The recordings that this crate holds.
pub fn recordings() -> Vec<Noise> {
    vec![
        Noise::parse("5 ms, calm", include_str!("noise/five_calm.tsv")),
        Noise::parse("30 ms, calm", include_str!("noise/thirty_calm.tsv")),
        Noise::parse("5 ms, busy", include_str!("noise/five_busy.tsv")),
        Noise::parse("30 ms, busy", include_str!("noise/thirty_busy.tsv")),
    ]
}

/// Every line of the proof on one recording, each as soon as it is known.
pub fn prove(noise: &Noise, size: Size, seed: u64, tell: &mut dyn FnMut(Row)) {
    tell(peeking(noise, size, seed));
    left::rows(noise, size, seed, tell);
    others(noise, size, seed, tell);
    tell(inside_while_at_the_margin(noise, size, seed));
    // A margin that this noise lets a comparison reach: else "equivalent" is never said, and never
    // wrong.
    let [fixed, reachable] =
        [0.01, noise.pair_sd() / 2.0].map(|margin| Settings { margin, ..Settings::default() });
    planted(noise, &fixed, size, seed, tell);
    planted(noise, &reachable, size, seed, tell);
    tell(planted_tail(noise, size, seed));
    power(noise, size, seed, tell);
}

/// "Ever excluded 0" in A/As that are looked at after every pair.
fn peeking(noise: &Noise, size: Size, seed: u64) -> Row {
    let alpha = Settings::default().alpha;
    let found = (0..size.looks).filter(|number| {
        let pairs = pairs(noise, seed, *number).take(LOOKS);
        ever_excludes_0(pairs.map(|pair| (pair.times(1.0), pair.b_ran_last)))
    });
    let what = format!("A/A: this sequence excludes 0 at any of {LOOKS} looks");
    Row::new(noise, what, found.count(), size.looks, Target::AtMost(alpha))
}

/// "Ever inside ±margin" of differences that are the margin, never stopping for a direction.
fn inside_while_at_the_margin(noise: &Noise, size: Size, seed: u64) -> Row {
    let alpha = Settings::default().alpha;
    let margin = noise.pair_sd() / 2.0;
    let found =
        (0..size.looks).filter(|number| is_ever_inside(noise, margin, margin, seed, *number));
    let what = format!("+ margin of half an SD: inside the margin at any of {LOOKS} looks");
    Row::new(noise, what, found.count(), size.looks, Target::AtMost(alpha))
}

/// Whether pairs that differ by `shift` are ever shown to lie inside ±`margin`.
fn is_ever_inside(noise: &Noise, margin: f64, shift: f64, seed: u64, number: usize) -> bool {
    let mut sequence = sequence(&[margin, -margin]);
    pairs(noise, seed, number).take(LOOKS).any(|Pair { times: [a, b], b_ran_last }| {
        sequence.push_ordered(shift + (b / a).ln(), b_ran_last);
        // Both ends are excluded beyond the margin too.
        sequence.excludes(margin)
            && sequence.excludes(-margin)
            && sequence.estimate().is_some_and(|estimate| estimate.abs() < margin)
    })
}

/// How often other rules, and ours after as many runs, call A and B different where B takes as long
/// as A, which is wrong, and where it takes 5 % more, which is right.
fn others(noise: &Noise, size: Size, seed: u64, tell: &mut dyn FnMut(Row)) {
    for (name, factor) in [("A/A", 1.0), ("+5.0 %", 1.05)] {
        let mut row = |what: String, found: &dyn Fn(usize) -> bool| {
            let hits = (0..size.planted).filter(|number| found(*number)).count();
            tell(Row::new(noise, format!("{name}: {what}"), hits, size.planted, Target::Beside));
        };
        let interleaved = |number, count| {
            pairs(noise, seed, number).take(count).map(move |pair| pair.times(factor))
        };
        let apart = |number| -> Vec<[f64; 2]> {
            let window = noise.window(2 * IN_A_ROW, &mut generator(seed, number));
            let (a, b) = window.split_at(IN_A_ROW);
            a.iter().zip(b).map(|(a, b)| [*a, factor * *b]).collect()
        };
        for looks in [LOOKS, IN_A_ROW] {
            row(format!("this sequence at 1 %, at any of {looks} looks"), &|number| {
                let pairs = pairs(noise, seed, number).take(looks);
                ever_excludes_0(pairs.map(|pair| (pair.times(factor), pair.b_ran_last)))
            });
        }
        for asked in rivals::PEEKED.into_iter().flat_map(rivals::Rule::asked) {
            row(format!("{asked}, at any of {LOOKS} looks"), &|number| {
                asked.ever(&interleaved(number, LOOKS).collect::<Vec<_>>())
            });
        }
        for asked in rivals::ONCE.into_iter().flat_map(rivals::Rule::asked) {
            row(format!("{asked}, {IN_A_ROW} runs of A and then {IN_A_ROW} of B"), &|number| {
                asked.differs(&apart(number))
            });
        }
    }
}

fn ever_excludes_0(mut pairs: impl Iterator<Item = ([f64; 2], bool)>) -> bool {
    let mut sequence = sequence(&[0.0]);
    pairs.any(|([a, b], b_ran_last)| {
        sequence.push_ordered((b / a).ln(), b_ran_last);
        sequence.excludes(0.0)
    })
}

fn sequence(watched: &[f64]) -> Sequence {
    Sequence::new(Settings::default().alpha, watched).expect("the default level is one")
}

/// Differences of 0 and of the margin, both ways: false answers, and intervals that miss.
fn planted(noise: &Noise, settings: &Settings, size: Size, seed: u64, tell: &mut dyn FnMut(Row)) {
    let margin = settings.log_margin();
    let alpha = settings.alpha;
    let said = format!("margin {:.1} %", 100.0 * settings.margin);
    for (name, shift) in [("A/A", 0.0), ("+ margin", margin), ("− margin", -margin)] {
        let replays: Vec<Replay> = (0..size.planted)
            .map(|number| replay(noise, settings, size.rounds, shift, seed, number))
            .collect();
        let mut count = |what: &str, target, hit: &dyn Fn(&Replay) -> bool| {
            let hits = replays.iter().filter(|replay| hit(replay)).count();
            let what = format!("{name}, {said}: {what}");
            tell(Row::new(noise, what, hits, size.planted, target));
        };
        let covered = |replay: &Replay| replay.covers(shift);
        count("the interval at the end holds the truth", Target::AtLeast(1.0 - alpha), &covered);
        if shift == 0.0 {
            count("faster or slower", Target::AtMost(alpha), &|replay| replay.directed());
            count("equivalent", Target::Beside, &|replay| replay.said(Outcome::Equivalent));
        } else {
            let false_equivalent = |replay: &Replay| replay.said(Outcome::Equivalent);
            count("false equivalent", Target::AtMost(alpha), &false_equivalent);
            count("faster or slower", Target::Beside, &|replay| replay.directed());
        }
    }
}

/// How often, and after how many runs, a planted difference is found. The margin is at most the
/// difference: else a small one ends as equivalent.
fn power(noise: &Noise, size: Size, seed: u64, tell: &mut dyn FnMut(Row)) {
    for effect in [0.003, 0.01, 0.02, 0.05] {
        let shift = f64::ln_1p(effect);
        let defaults = Settings::default();
        let settings = Settings { margin: defaults.margin.min(effect), ..defaults };
        let found: Vec<usize> = (0..size.planted)
            .map(|number| replay(noise, &settings, size.rounds, shift, seed, number))
            .filter(|replay| replay.said(Outcome::Slower))
            .map(|replay| replay.rounds)
            .collect();
        let runs: Vec<f64> = found.iter().map(|rounds| 2.0 * *rounds as f64).collect();
        let [half, most] = [0.5, 0.8].map(|part| nth(runs.clone(), part, size.planted));
        let what = format!(
            "+{:.1} %: found slower within {} rounds (half by run {half}, 80 % by run {most})",
            100.0 * effect,
            size.rounds
        );
        tell(Row::new(noise, what, found.len(), size.planted, Target::Beside));
    }
}

/// The round or run by which this part of all replays had found it, where so many did.
fn nth(mut rounds: Vec<f64>, part: f64, of: usize) -> String {
    rounds.sort_unstable_by(f64::total_cmp);
    let place = (part * of as f64).ceil() as usize;
    rounds.get(place.saturating_sub(1)).map_or("never".to_owned(), f64::to_string)
}

/// 5 of 100 more runs are slow: to say that it is fewer is false there.
fn planted_tail(noise: &Noise, size: Size, seed: u64) -> Row {
    let settings = Settings { question: Question::Tail, ..Settings::default() };
    let share = share_made_slow(noise.runs());
    let found = (0..size.planted).filter(|number| {
        let mut rng = generator(!seed, *number);
        let longer = |time: f64| if rng.random_bool(share) { 3.0 * time } else { time };
        let replay = replay_with(noise, &settings, size.rounds, longer, seed, *number);
        replay.more_slow_runs == Some(false)
    });
    let what = "5 % of runs take 3 times as long: called fewer than 5 points".to_owned();
    Row::new(noise, what, found.count(), size.planted, Target::AtMost(settings.alpha))
}

/// Of how many runs it takes that 5 of 100 more are slow: some are already, and stay so.
fn share_made_slow(runs: &[f64]) -> f64 {
    let median = lab_stats::describe::median(runs).unwrap_or(f64::NAN);
    let already = runs.iter().filter(|time| **time > SLOW * median).count();
    SHARE_MARGIN / (1.0 - already as f64 / runs.len() as f64)
}

/// A comparison's end.
struct Replay {
    verdict: Verdict,
    more_slow_runs: Option<bool>,
    estimate: Option<Estimate>,
    rounds: usize,
}

impl Replay {
    fn said(&self, outcome: Outcome) -> bool {
        self.verdict.outcome == outcome
    }

    fn directed(&self) -> bool {
        self.said(Outcome::Faster) || self.said(Outcome::Slower)
    }

    fn covers(&self, shift: f64) -> bool {
        let interval = self.estimate.as_ref().and_then(|estimate| estimate.interval);
        interval.is_none_or(|[low, high]| low <= shift && shift <= high)
    }
}

fn replay(
    noise: &Noise,
    settings: &Settings,
    rounds: usize,
    shift: f64,
    seed: u64,
    number: usize,
) -> Replay {
    replay_with(noise, settings, rounds, |time| time * shift.exp(), seed, number)
}

/// A comparison whose candidate takes `changed` of what the recording says.
fn replay_with(
    noise: &Noise,
    settings: &Settings,
    rounds: usize,
    mut changed: impl FnMut(f64) -> f64,
    seed: u64,
    number: usize,
) -> Replay {
    let commands = settings.commands();
    let mut rng = generator(seed, number);
    let schedule = Schedule::new(rng.random(), commands);
    let mut comparison =
        Comparison::new(settings.clone(), &["wall"]).expect("the replays' settings are valid");
    for (times, plan) in noise.rounds(commands, rng).zip(schedule).take(rounds) {
        let mut runs = vec![Vec::new(); commands];
        for (time, command) in times.iter().zip(&plan.order) {
            runs[*command] = vec![if *command > 0 { changed(*time) } else { *time }];
        }
        match comparison.add(&plan.order, &runs, 0.0).expect("a round has a run for each command") {
            Next::Round => {}
            Next::Decided | Next::OutOfBudget => break,
        }
    }
    let state = comparison.state();
    let candidate = &state.candidates[0];
    Replay {
        verdict: candidate.verdict,
        more_slow_runs: candidate.more_slow_runs,
        estimate: candidate.metrics[0].estimate.clone(),
        rounds: state.rounds,
    }
}

/// Two runs that are alike.
struct Pair {
    /// Of A and of B.
    times: [f64; 2],
    b_ran_last: bool,
}

impl Pair {
    /// Where B takes so many times as long.
    fn times(&self, factor: f64) -> [f64; 2] {
        [self.times[0], factor * self.times[1]]
    }
}

/// Pairs in random order.
fn pairs(noise: &Noise, seed: u64, number: usize) -> impl Iterator<Item = Pair> {
    let mut rng = generator(seed, number);
    let schedule = Schedule::new(rng.random(), 2);
    let rounds = noise.rounds(2, rng);
    rounds.zip(schedule).map(|(times, plan)| match plan.order[0] {
        0 => Pair { times: [times[0], times[1]], b_ran_last: true },
        _ => Pair { times: [times[1], times[0]], b_ran_last: false },
    })
}

/// The generator of one replay, whatever was drawn in others.
fn generator(seed: u64, number: usize) -> Pcg64 {
    Pcg64::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number as u64)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    fn row(measured: f64, target: Target) -> Row {
        Row { noise: "calm", what: "wrong".to_owned(), measured, replays: 400, target }
    }

    #[test]
    fn a_target_is_met_within_two_standard_errors() {
        // Of 1 % in 400 replays: 0.5 %, twice.
        let met = |measured, target| row(measured, target).met();
        assert_eq!(met(0.0199, Target::AtMost(0.01)), Some(true));
        assert_eq!(met(0.02, Target::AtMost(0.01)), Some(false));
        assert_eq!(met(0.9801, Target::AtLeast(0.99)), Some(true));
        assert_eq!(met(0.98, Target::AtLeast(0.99)), Some(false));
        assert_eq!(met(0.5, Target::Beside), None);
    }

    #[test]
    fn a_shift_inside_the_margin_is_shown_and_one_beyond_it_never() {
        let noise = &recordings()[0];
        let margin = noise.pair_sd();
        let ever = |shift| (0..20).filter(|n| is_ever_inside(noise, margin, shift, 1, *n)).count();
        let beyond = [margin, -margin, 3.0 * margin, -3.0 * margin];
        assert_eq!((ever(0.0), beyond.map(ever)), (20, [0; 4]));
    }

    #[test]
    fn runs_that_are_slow_already_are_not_made_slow() {
        // Two of eight are above 1.25 medians of 4.
        let runs = [4.0, 3.0, 4.0, 5.0, 5.1, 9.0, 4.0, 2.0];
        assert!((share_made_slow(&runs) - 0.05 / 0.75).abs() < 1e-12);
    }

    #[test]
    fn a_row_is_a_line_of_the_table() {
        let header: Vec<&str> = Row::HEADER.split('\t').collect();
        assert_eq!(header, ["noise", "what", "measured", "replays", "target", "met"]);
        for (target, said) in [
            (Target::AtMost(0.01), "at most 0.01\tno"),
            (Target::AtLeast(0.01), "at least 0.01\tyes"),
            (Target::Near { expected: 0.25, error: 0.1 }, "about 0.25\tno"),
            (Target::Near { expected: 0.25, error: 0.13 }, "about 0.25\tyes"),
            (Target::Beside, "-\t-"),
        ] {
            assert_eq!(row(0.5, target).tsv(), format!("calm\twrong\t0.5000\t400\t{said}"));
        }
    }

    #[test]
    fn the_round_by_which_half_had_found_it_counts_those_that_never_did() {
        let rounds = vec![40.0, 10.0, 30.0];
        let by = |part| nth(rounds.clone(), part, 4);
        assert_eq!([0.25, 0.5, 0.75, 0.8].map(by), ["10", "30", "40", "never"]);
        assert_eq!(nth(Vec::new(), 0.5, 4), "never");
    }
}
