//! Which of two sets of samples is faster, where nothing interleaved them.
//!
//! Times are compared as logarithms, so that a difference is a ratio: by the test of
//! `lab_stats::studentised`, its inversion as the interval, and Holm's adjustment over the
//! benchmarks. The level holds for samples that are independent within each set. What changed
//! between the two measurements is in the difference, whatever it was.

use std::collections::BTreeMap;

use lab_stats::{
    describe::median,
    equivalence::Equivalence,
    multiple::holm,
    outcome::{Direction, Evidence, Outcome, of_difference},
    studentised::{FEWEST, Studentised},
    tail::{self, Tail},
};
use serde::Serialize;

use crate::{Benchmark, Sample};

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
    #[error("no benchmark has the same name in both; the first are `{old}` and `{new}`")]
    NothingShared {
        /// A name of the reference's.
        old: String,
        /// A name of the other's.
        new: String,
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
    /// Independent samples, of the reference and of the candidate.
    pub samples: [usize; 2],
    /// Of all samples, in nanoseconds.
    pub median_ns: [Option<f64>; 2],
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
        match self.outcome {
            Outcome::Faster | Outcome::Slower | Outcome::Equivalent => {
                format!("{} ({DRIFT})", self.outcome)
            }
            other => other.to_string(),
        }
    }
}

/// Benchmarks of the same name; where each set has one alone, these two.
pub fn against(
    old: &[Benchmark],
    new: &[Benchmark],
    settings: &Settings,
) -> Result<Vec<Judged>, JoinError> {
    let (old, new) = (pooled(old), pooled(new));
    let pairs: Vec<_> = if let ([one], [other]) = (&old[..], &new[..]) {
        vec![(one, other)]
    } else {
        let same = |other| old.iter().find(|one: &&Pool| one.name == other);
        new.iter().filter_map(|other| Some((same(other.name)?, other))).collect()
    };
    if pairs.is_empty() {
        let first = |set: &[Pool]| set.first().map_or("", |pool| pool.name).to_owned();
        return Err(JoinError::NothingShared { old: first(&old), new: first(&new) });
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

/// The names that only one of two sets has.
pub fn unmatched<'a>(one: &'a [Benchmark], other: &[Benchmark]) -> Vec<&'a str> {
    let known = |name: &str| other.iter().any(|benchmark| benchmark.name == name);
    let mut names: Vec<&str> = one.iter().map(|benchmark| benchmark.name.as_str()).collect();
    names.retain(|name| !known(name));
    names.dedup();
    names
}

/// What all files together have of a benchmark.
struct Pool<'a> {
    name: &'a str,
    samples: Vec<Sample>,
}

fn pooled(benchmarks: &[Benchmark]) -> Vec<Pool<'_>> {
    let mut pools: Vec<Pool<'_>> = Vec::new();
    for benchmark in benchmarks {
        let known = pools.iter().position(|pool| pool.name == benchmark.name);
        let at = known.unwrap_or_else(|| {
            pools.push(Pool { name: &benchmark.name, samples: Vec::new() });
            pools.len() - 1
        });
        let samples = &mut pools[at].samples;
        // The processes of another file are others, though they have the same numbers.
        let before =
            samples.iter().filter_map(|sample| sample.fork).max().map_or(0, |last| last + 1);
        let moved = |sample: &Sample| Sample { fork: sample.fork.map(|it| it + before), ..*sample };
        samples.extend(benchmark.samples.iter().map(moved));
    }
    pools
}

impl Pool<'_> {
    /// Logarithms of what is independent: where the tool tells the processes apart a process
    /// counts once, with its mean, for a process's samples share its memory and compilation. Of one
    /// process its samples are all there is.
    fn logarithms(&self) -> Vec<f64> {
        let mut forks: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for sample in &self.samples {
            if let Some(fork) = sample.fork {
                forks.entry(fork).or_default().push(sample.ns);
            }
        }
        if forks.len() < 2 {
            return self.samples.iter().map(|sample| sample.ns.ln()).collect();
        }
        let mean = |times: &Vec<f64>| (times.iter().sum::<f64>() / times.len() as f64).ln();
        forks.values().map(mean).collect()
    }

    fn median_ns(&self) -> Option<f64> {
        median(&self.samples.iter().map(|sample| sample.ns).collect::<Vec<_>>())
    }
}

fn judge(pairs: &[(&Pool<'_>, &Pool<'_>)], settings: &Settings) -> Vec<Judged> {
    let alpha_each = settings.alpha / pairs.len() as f64;
    let (mut all, shown): (Vec<Judged>, Vec<Shown>) = pairs
        .iter()
        .map(|(reference, candidate)| one(reference, candidate, alpha_each, settings))
        .unzip();
    let known: Vec<f64> = all.iter().filter_map(|judged| judged.p).collect();
    let mut adjusted = holm(&known).unwrap_or_default().into_iter();
    for (judged, shown) in all.iter_mut().zip(shown) {
        judged.adjusted_p = judged.p.and_then(|_| adjusted.next());
        judged.decide(shown, settings);
    }
    all
}

/// What middle and tail show.
type Shown = (Option<Equivalence>, Option<Tail>);

fn one(
    reference: &Pool<'_>,
    candidate: &Pool<'_>,
    alpha_each: f64,
    settings: &Settings,
) -> (Judged, Shown) {
    let (a, b) = (candidate.logarithms(), reference.logarithms());
    let is_few = a.len() + b.len() <= MOST_SAMPLES;
    let test = is_few.then(|| Studentised::new(&a, &b, alpha_each, settings.seed)).flatten();
    let interval = test.as_ref().and_then(|test| test.interval(alpha_each));
    let margin = settings.margin.ln_1p();
    let equivalence = test.as_ref().zip(interval).map(|(test, interval)| Equivalence {
        p: test.p_value(margin).max(test.p_value(-margin)),
        interval: Some(interval),
        holds: -margin < interval.low && interval.high < margin,
    });
    let judged = Judged {
        benchmark: candidate.name.to_owned(),
        reference: reference.name.to_owned(),
        outcome: Outcome::CannotTell,
        interleaved: false,
        samples: [b.len(), a.len()],
        median_ns: [reference.median_ns(), candidate.median_ns()],
        shift: test.as_ref().map(Studentised::estimate),
        interval: interval.map(|interval| [interval.low, interval.high]),
        p: test.as_ref().map(|test| test.p_value(0.0)),
        adjusted_p: None,
        slower_beyond_margin: None,
        reason: reason(&a, &b),
    };
    let tail = median(&b).filter(|_| is_few).and_then(|centre| {
        let multiples =
            |values: &[f64]| values.iter().map(|value| (value - centre).exp()).collect::<Vec<_>>();
        tail::of_samples(&multiples(&a), &multiples(&b), settings.margin, alpha_each)
    });
    (judged, (equivalence, tail))
}

fn reason(a: &[f64], b: &[f64]) -> Option<String> {
    if a.is_empty() || b.is_empty() {
        return Some("only a mean is known, and no spread: not judgeable".to_owned());
    }
    let (least, all) = (a.len().min(b.len()), a.len() + b.len());
    if all > MOST_SAMPLES {
        return Some(format!("{all} samples; {MOST_SAMPLES} are judged at the most: give fewer"));
    }
    (least < FEWEST).then(|| format!("{least} independent samples; {FEWEST} are needed of each"))
}

impl Judged {
    fn decide(&mut self, (equivalence, tail): Shown, settings: &Settings) {
        if self.samples.contains(&0) {
            self.outcome = Outcome::NotMeasured;
        }
        let (Some(p), Some(shift)) = (self.adjusted_p, self.shift) else { return };
        let margin = settings.margin.ln_1p();
        self.slower_beyond_margin = self.interval.and_then(|[low, high]| {
            if high <= margin { Some(false) } else { (low >= margin).then_some(true) }
        });
        let evidence = Evidence { adjusted_p: p, estimate: shift, mean: shift, equivalence, tail };
        if evidence.is_typically_equivalent() {
            self.reason = Some("typical run equivalent, tail unknown".to_owned());
        }
        self.outcome = of_difference(&evidence, settings.alpha, Direction::LowerIsBetter);
    }
}
