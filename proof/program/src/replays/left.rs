//! What a run leaves to the next, planted: programs that are faster or slower right after
//! themselves, in the designs of this lab and in those that are wrong.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use lab_stats::sequence::Sequence;

use super::{LOOKS, Noise, Row, Size, Target, generator};
use lab_compare::{Design, Schedule, Settings};

/// By how much a program is faster right after itself; below 0, slower.
const GAINS: [f64; 10] = [0.01, 0.02, 0.05, 0.1, 0.4, -0.01, -0.02, -0.05, -0.1, -0.4];
/// What is planted where one size will do.
const TYPICAL: f64 = 0.1;

/// A world whose runs leave something behind.
struct World<'w> {
    noise: &'w Noise,
    design: Design,
    left: Left<'w>,
}

/// ln of the factor on a run's time, by the command before it, its own, and its place.
type Left<'l> = &'l dyn Fn(usize, usize, usize) -> f64;

impl<'w> World<'w> {
    fn of(noise: &'w Noise, design: Design, left: Left<'w>) -> Self {
        Self { noise, design, left }
    }

    /// What a replay gives, in order.
    fn pairs(&self, seed: u64, number: usize) -> Vec<Pair> {
        let mut rng = generator(seed, number);
        let schedule = Schedule::of(rng.random(), self.design.clone());
        let mut runs = self.noise.rounds(1, Pcg64::seed_from_u64(rng.random()));
        let mut before = 0;
        let mut run = |command: usize, place: usize| {
            let time = runs.next().expect("noise without end")[0];
            let left = (self.left)(before, command, place);
            before = command;
            time.ln() + left
        };
        let mut pairs = Vec::new();
        for plan in schedule.take(LOOKS) {
            for command in plan.wash {
                run(command, 0);
            }
            let runs: Vec<(usize, f64)> = (plan.order.iter().enumerate())
                .map(|(place, command)| (*command, run(*command, place)))
                .collect();
            let place = runs.iter().position(|(command, _)| *command == 0);
            let reference = place.expect("every round holds the reference");
            for (place, (command, log)) in runs.iter().enumerate().filter(|(_, run)| run.0 > 0) {
                let (difference, ran_last) = (log - runs[reference].1, place > reference);
                pairs.push(Pair { command: *command, difference, ran_last });
            }
        }
        pairs
    }

    /// Whether 0 is ever excluded from one of the commands up to `last`.
    fn is_fooled(&self, last: usize, seed: u64, number: usize) -> bool {
        let alpha = Settings::default().alpha / last as f64;
        let sequence = || Sequence::new(alpha, &[0.0]).expect("the default level is one");
        let mut sequences: Vec<Sequence> = (0..last).map(|_| sequence()).collect();
        self.pairs(seed, number).into_iter().any(|pair| {
            let Some(sequence) = sequences.get_mut(pair.command - 1) else { return false };
            sequence.push_ordered(pair.difference, pair.ran_last);
            sequence.excludes(0.0)
        })
    }

    /// "Ever excluded 0", of so many candidates.
    fn row(&self, what: &str, candidates: usize, target: Target, size: Size, seed: u64) -> Row {
        let fooled = (0..size.looks).filter(|number| self.is_fooled(candidates, seed, *number));
        Row::new(self.noise, format!("A/A, {what}"), fooled.count(), size.looks, target)
    }
}

/// A command of a round against the reference.
struct Pair {
    command: usize,
    /// ln(command / reference).
    difference: f64,
    /// Whether it ran after the reference.
    ran_last: bool,
}

/// Every row of what a run leaves to the next.
pub(super) fn rows(noise: &Noise, size: Size, seed: u64, tell: &mut dyn FnMut(Row)) {
    let allowed = Target::AtMost(Settings::default().alpha);
    for gain in GAINS {
        let after_itself = |before: usize, command: usize, _: usize| shift(gain, before == command);
        for commands in [2, 4] {
            let what = format!("{commands} commands, {} after themselves", said(gain));
            let alike = World::of(noise, Design::all(commands), &after_itself);
            tell(alike.row(&what, commands - 1, allowed, size, seed));
        }
        one_alone(noise, gain, size, seed, tell);
    }
    let gains = |before: usize, command: usize, _: usize| shift(TYPICAL, before == command);
    let with_control = Design { control: Some([0, 2]), ..Design::all(2) };
    let what = format!("2 commands and a copy as control, {} after themselves", said(TYPICAL));
    tell(World::of(noise, with_control.clone(), &gains).row(&what, 1, allowed, size, seed));
    // The copy shares what the reference leaves behind, as one of a program that reads the same
    // files does.
    let shared =
        |before: usize, command: usize, _: usize| shift(TYPICAL, before % 2 == command % 2);
    let what = format!("{what}, the copy warms the reference");
    tell(World::of(noise, with_control, &shared).row(&what, 1, allowed, size, seed));
    // The first run of a round is slower by as much as one after itself is faster.
    let places = |before: usize, command: usize, place: usize| {
        shift(TYPICAL, before == command) + shift(-TYPICAL, place == 0)
    };
    let what = format!("2 commands, {} after themselves and slower in first place", said(TYPICAL));
    tell(World::of(noise, Design::all(2), &places).row(&what, 1, allowed, size, seed));
    third_that_warms(noise, size, seed, tell);
    // As it was: the reference twice in each round.
    let twice = |before: usize, command: usize, _: usize| shift(TYPICAL, before % 2 == command % 2);
    let what = format!("the reference twice in a round (as before), {}", said(TYPICAL));
    tell(World::of(noise, Design::all(3), &twice).row(&what, 1, Target::Beside, size, seed));
}

/// One of two is faster after itself: it is so in a quarter of the rounds, and takes less.
fn one_alone(noise: &Noise, gain: f64, size: Size, seed: u64, tell: &mut dyn FnMut(Row)) {
    let alone =
        |before: usize, command: usize, _: usize| shift(gain, before == command && command == 0);
    let world = World { noise, design: Design::all(2), left: &alone };
    let (mut means, mut estimates) = (Vec::new(), Vec::new());
    for number in 0..size.planted {
        let mut sequence = Sequence::new(Settings::default().alpha, &[]).expect("a level");
        let pairs = world.pairs(seed, number);
        for pair in &pairs {
            sequence.push_ordered(pair.difference, pair.ran_last);
        }
        let mean = pairs.iter().map(|pair| pair.difference).sum::<f64>() / pairs.len() as f64;
        let whole = -shift(gain, true);
        means.push(mean / whole);
        estimates.push(sequence.estimate().unwrap_or(f64::NAN) / whole);
    }
    let mut row = |what: &str, of: &[f64], expected: Option<f64>| {
        let mean = of.iter().sum::<f64>() / of.len() as f64;
        let variance = of.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / of.len() as f64;
        let error = (variance / of.len() as f64).sqrt();
        let target = match expected {
            // Three errors here, for there are forty such rows.
            Some(expected) => Target::Near { expected, error: 1.5 * error },
            None => Target::Beside,
        };
        let what = format!("the first alone {} after itself: {what}", said(gain));
        tell(Row { noise: noise.name, what, measured: mean, replays: of.len(), target });
    };
    row("mean difference ÷ that", &means, Some(0.25));
    row("estimate ÷ that", &estimates, None);
}

/// The third command reads the files of the second, which is then faster after either.
fn third_that_warms(noise: &Noise, size: Size, seed: u64, tell: &mut dyn FnMut(Row)) {
    let warms = |before: usize, command: usize, _: usize| {
        let is_warm =
            before == command || (before, command) == (2, 1) || (before, command) == (1, 2);
        shift(TYPICAL, is_warm)
    };
    let what = "the third warms the second's files";
    let together = World { noise, design: Design::all(3), left: &warms };
    let what_together = format!("{what}, one round of all: the second");
    tell(together.row(&what_together, 1, Target::Beside, size, seed));
    let questions = vec![vec![0, 1], vec![0, 2]];
    let apart = World { design: Design { questions, ..Design::all(3) }, ..together };
    let what = format!("{what}, rounds of their own");
    let allowed = Target::AtMost(Settings::default().alpha);
    tell(apart.row(&what, 2, allowed, size, seed));
}

fn shift(gain: f64, applies: bool) -> f64 {
    if applies { (1.0 - gain).ln() } else { 0.0 }
}

fn said(gain: f64) -> String {
    let word = if gain > 0.0 { "faster" } else { "slower" };
    format!("{:.0} % {word}", 100.0 * gain.abs())
}
