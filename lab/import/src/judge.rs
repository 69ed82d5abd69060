//! Which of two sets of samples is faster, where nothing interleaved them.
//!
//! Times are compared as logarithms, so that a difference is a ratio: by the test of
//! `lab_stats::studentised`, its inversion as the interval, and Holm's adjustment over the
//! benchmarks. What is counted is a process with its mean, for its samples share its memory, its
//! compilation and its minute; where each side has one, its samples are all there is, and what they
//! share is in the difference. What changed between the two measurements is in it in any case.

use std::collections::{BTreeMap, BTreeSet};

use lab_stats::{
    multiple::holm,
    outcome::{Direction, Evidence, Outcome, of_difference},
    studentised::{FEWEST, Studentised},
};
use serde::Serialize;

use crate::{
    Benchmark,
    pool::{Pool, other_processors, pooled},
    welch::Welch,
};

/// Of both sides together: the regroupings take some 2,500 bytes for each.
const MOST_SAMPLES: usize = 100_000;

/// What stands beside every verdict.
pub const DRIFT: &str = "not interleaved: drift is not excluded";

/// How surely, and what matters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The probability of a wrong verdict, over all benchmarks together.
    pub alpha: f64,
    /// The relative difference that is too small to matter: 0.01 for 1 %.
    pub margin: f64,
    /// Of the random regroupings.
    pub seed: u64,
}

/// Sets that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// No name is in both.
    #[error("no benchmark has the same name in both; the first are `{old}` and `{new}`{why}")]
    NothingShared {
        /// A name of the reference's.
        old: String,
        /// A name of the other's.
        new: String,
        /// Behind it, where it is known.
        why: String,
    },
    /// The reference is not there.
    #[error("there is no benchmark `{name}`; there are: {known}")]
    NoReference {
        /// What was asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// The reference is alone.
    #[error("`{name}` is the only benchmark: there is nothing to compare it with")]
    Alone {
        /// The reference.
        name: String,
    },
}

/// Two benchmarks and what may be said of them. Differences are ln(candidate / reference).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The candidate's name.
    pub benchmark: String,
    /// The reference's name.
    pub reference: String,
    /// In the words of every table of the lab.
    pub outcome: Outcome,
    /// False: a difference may be drift.
    pub interleaved: bool,
    /// What the test counted, of the reference and of the candidate: processes, or the samples of
    /// one where each side has no more.
    pub samples: [usize; 2],
    /// Processes, of the reference and of the candidate.
    pub processes: [usize; 2],
    /// Of all samples, in nanoseconds.
    pub median_ns: [Option<f64>; 2],
    /// Of a rate, whose samples are runs; the difference is the rate's then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_per_s: Option<[f64; 2]>,
    /// The difference of the means of the logarithms.
    pub shift: Option<f64>,
    /// It, at 1 - alpha for all benchmarks together (Bonferroni).
    pub interval: Option<[f64; 2]>,
    /// Of no difference.
    pub p: Option<f64>,
    /// After Holm's adjustment.
    pub adjusted_p: Option<f64>,
    /// Whether it takes longer by more than the margin, where either is shown.
    pub slower_beyond_margin: Option<bool>,
    /// Why there is no answer, where the numbers do not say it.
    pub reason: Option<String>,
}

impl Judged {
    /// The outcome with what qualifies it.
    pub fn verdict(&self) -> String {
        match (self.outcome, &self.reason) {
            (Outcome::Faster | Outcome::Slower | Outcome::Equivalent, _) => {
                format!("{} ({DRIFT})", self.outcome)
            }
            (Outcome::Withheld, Some(reason)) => format!("{} ({reason})", self.outcome),
            (other, _) => other.to_string(),
        }
    }

    /// Whether no verdict is given, whatever the numbers are.
    pub fn is_withheld(&self) -> bool {
        self.outcome == Outcome::Withheld
    }

    /// Whether the samples of one process stand against those of another.
    pub fn is_of_one_process(&self) -> bool {
        self.processes == [1, 1]
    }
}

/// Benchmarks of the same name; where each set has one alone, these two.
pub fn against(
    old: &[Benchmark],
    new: &[Benchmark],
    settings: &Settings,
) -> Result<Vec<Judged>, JoinError> {
    let (old, new) = (pooled(old), pooled(new));
    if let ([one], [other]) = (&old[..], &new[..]) {
        let mut judged = judge(&[(one, other)], settings);
        if let Some(why) = other_processors(&old, &new) {
            judged.iter_mut().for_each(|judged| judged.withhold(&why));
        }
        return Ok(judged);
    }
    let key = |pool: &Pool| (pool.tool, pool.name.to_owned());
    let known: BTreeMap<_, _> = old.iter().map(|one| (key(one), one)).collect();
    let pair = |other| Some((*known.get(&key(other))?, other));
    let pairs: Vec<_> = new.iter().filter_map(pair).collect();
    if pairs.is_empty() {
        let first = |set: &[Pool]| set.first().map_or("", |pool| pool.name).to_owned();
        let why = other_processors(&old, &new).map_or(String::new(), |why| format!(": {why}"));
        return Err(JoinError::NothingShared { old: first(&old), new: first(&new), why });
    }
    Ok(judge(&pairs, settings))
}

/// All benchmarks of a set against one of them.
pub fn within(
    set: &[Benchmark],
    reference: &str,
    settings: &Settings,
) -> Result<Vec<Judged>, JoinError> {
    let set = pooled(set);
    let Some(one) = set.iter().find(|pool| pool.name == reference) else {
        let known: Vec<String> = set.iter().map(|pool| format!("`{}`", pool.name)).collect();
        return Err(JoinError::NoReference { name: reference.to_owned(), known: known.join(", ") });
    };
    let others = set.iter().filter(|pool| pool.name != reference);
    let pairs: Vec<_> = others.map(|other| (one, other)).collect();
    if pairs.is_empty() {
        return Err(JoinError::Alone { name: reference.to_owned() });
    }
    Ok(judge(&pairs, settings))
}

/// The names that only one of two sets has; none where each set has one alone, which are compared.
pub fn unmatched(one: &[Benchmark], other: &[Benchmark]) -> Vec<String> {
    let keys = |set: &[Benchmark]| -> BTreeSet<_> {
        pooled(set).iter().map(|pool| (pool.tool, pool.name.to_owned())).collect()
    };
    let (own, others) = (keys(one), keys(other));
    if own.len() == 1 && others.len() == 1 {
        return Vec::new();
    }
    own.difference(&others).map(|(_, name)| name.clone()).collect()
}

/// Why benchmarks have no partner, where their names tell it.
pub fn why_unmatched(old: &[Benchmark], new: &[Benchmark]) -> Option<String> {
    other_processors(&pooled(old), &pooled(new))
}

fn judge(pairs: &[(&Pool<'_>, &Pool<'_>)], settings: &Settings) -> Vec<Judged> {
    let alpha_each = settings.alpha / pairs.len() as f64;
    let one = |(reference, candidate): &(&Pool, &Pool)| {
        one(reference, candidate, alpha_each, settings.seed)
    };
    let mut all: Vec<Judged> = pairs.iter().map(one).collect();
    let known: Vec<f64> = all.iter().filter_map(|judged| judged.p).collect();
    let mut adjusted = holm(&known).unwrap_or_default().into_iter();
    for judged in &mut all {
        judged.adjusted_p = judged.p.and_then(|_| adjusted.next());
        judged.decide(settings);
    }
    let rates = all.iter_mut().filter(|judged| judged.median_per_s.is_some());
    rates.for_each(Judged::turn_into_rate);
    all
}

/// Logarithms of what counts on each side.
fn logarithms(reference: &[Vec<f64>], candidate: &[Vec<f64>]) -> [Vec<f64>; 2] {
    let mean = |times: &Vec<f64>| (times.iter().sum::<f64>() / times.len() as f64).ln();
    match (reference, candidate) {
        ([one], [other]) => [one, other].map(|times| times.iter().map(|ns| ns.ln()).collect()),
        _ => [reference, candidate].map(|processes| processes.iter().map(mean).collect()),
    }
}

fn one(reference: &Pool<'_>, candidate: &Pool<'_>, alpha_each: f64, seed: u64) -> Judged {
    let [of_b, of_a] = [reference, candidate].map(Pool::processes);
    let [b, a] = logarithms(&of_b, &of_a);
    let processes = [of_b.len(), of_a.len()];
    let counted = match (candidate.is_rate(), processes) {
        (true, _) => "runs",
        (false, [1, 1]) => "samples",
        (false, _) => "processes",
    };
    let is_failed = reference.is_failed() || candidate.is_failed();
    let is_few = a.len() + b.len() <= MOST_SAMPLES && !is_failed;
    let test = is_few.then(|| Studentised::new(&a, &b, alpha_each, seed)).flatten();
    let interval = test.as_ref().and_then(|test| test.interval(alpha_each));
    let interval = interval.map(|interval| [interval.low, interval.high]);
    let p = test.as_ref().map(|test| test.p_value(0.0));
    // So few that no regrouping is as rare as the level.
    let welch = test.as_ref().filter(|_| interval.is_none()).and_then(|_| {
        let welch = Welch::new(&a, &b)?;
        Some((welch.interval(alpha_each)?, welch.p(p?)))
    });
    let withheld = withheld(reference, candidate);
    Judged {
        benchmark: candidate.name.to_owned(),
        reference: reference.name.to_owned(),
        outcome: match (&withheld, a.is_empty() || b.is_empty()) {
            (Some(_), _) => Outcome::Withheld,
            (None, true) => Outcome::NotMeasured,
            (None, false) => Outcome::CannotTell,
        },
        interleaved: false,
        samples: [b.len(), a.len()],
        processes,
        median_ns: [reference.median_ns(), candidate.median_ns()],
        median_per_s: reference.median_per_s().zip(candidate.median_per_s()).map(Into::into),
        shift: test.as_ref().map(Studentised::estimate),
        interval: interval.or(welch.map(|(interval, _)| interval)),
        p: welch.map(|(_, p)| p).or(p),
        adjusted_p: None,
        slower_beyond_margin: None,
        reason: withheld.or_else(|| reason(&[&b, &a], counted, interval.is_some(), alpha_each)),
    }
}

/// Why no verdict is given, whatever the numbers are.
fn withheld(reference: &Pool<'_>, candidate: &Pool<'_>) -> Option<String> {
    if reference.is_failed() || candidate.is_failed() {
        let (then, now) = (reference.endings(), candidate.endings());
        return Some(format!("runs failed: {now} against {then}"));
    }
    reference.moved_to(candidate).map(|how| format!("not measured alike: {how}"))
}

fn reason(
    sides: &[&Vec<f64>; 2],
    counted: &str,
    has_interval: bool,
    alpha_each: f64,
) -> Option<String> {
    let [old, new] = sides.map(|side| side.len());
    if old.min(new) == 0 {
        return Some("only a mean is known, and no spread: not judgeable".to_owned());
    }
    if old + new > MOST_SAMPLES {
        let all = old + new;
        return Some(format!("{all} samples; {MOST_SAMPLES} are judged at the most: give fewer"));
    }
    if sides.iter().any(|side| side.contains(&f64::INFINITY)) {
        return Some("a run has none, so there is no ratio".to_owned());
    }
    if old.min(new) < FEWEST {
        let share = if counted == "processes" { ", of which each counts once," } else { "" };
        return Some(format!("{old} and {new} {counted}{share} are too few: {FEWEST} are needed"));
    }
    if has_interval {
        return None;
    }
    let is_constant = |side: &&Vec<f64>| side.iter().all(|value| *value == side[0]);
    if sides.iter().all(is_constant) {
        return Some("no spread: neither side varies, so there is no interval".to_owned());
    }
    let level = 100.0 * alpha_each;
    Some(format!("too few to regroup at {level:.2} %: Welch's t-test alone"))
}

impl Judged {
    fn withhold(&mut self, why: &str) {
        self.outcome = Outcome::Withheld;
        self.slower_beyond_margin = None;
        self.reason = Some(why.to_owned());
    }

    /// What takes twice the time comes half as often.
    fn turn_into_rate(&mut self) {
        self.shift = self.shift.map(|shift| -shift);
        self.interval = self.interval.map(|[low, high]| [-high, -low]);
    }

    fn decide(&mut self, settings: &Settings) {
        let (Some(p), Some(shift)) = (self.adjusted_p, self.shift) else { return };
        if self.outcome == Outcome::Withheld {
            return;
        }
        let margin = settings.margin.ln_1p();
        self.slower_beyond_margin = self.interval.and_then(|[low, high]| {
            if high <= margin { Some(false) } else { (low >= margin).then_some(true) }
        });
        // Of the typical run, as `lab compare` says it: the tail is not asked.
        if self.interval.is_some_and(|[low, high]| -margin < low && high < margin) {
            self.outcome = Outcome::Equivalent;
            return;
        }
        let evidence =
            Evidence { adjusted_p: p, estimate: shift, mean: shift, equivalence: None, tail: None };
        self.outcome = of_difference(&evidence, settings.alpha, Direction::LowerIsBetter);
    }
}
