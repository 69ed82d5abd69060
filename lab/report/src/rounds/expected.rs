//! One expectation in rounds: a ratio against its bounds.

use lab_family::{Cell, Unit};
use lab_record::{Expectation, Run, Status};
use lab_stats::{
    outcome::{Outcome, Region},
    sequence::Sequence,
};

use super::{more, trial::Promise};
use crate::compare::POWER;
use crate::effect::CONFIDENCE;
use crate::expect::region;
use crate::measure::Measured;
use crate::quantity::{OfRuns, Side, log_ratios};
use crate::reading::Reading;

/// Half the interval of a ratio that is known well enough, as a logarithm.
const PRECISION: f64 = 0.1;
/// Rounds without a ratio after which no other comes.
const EMPTY_MAX: usize = 3;

/// An expectation and its rounds so far.
pub(crate) struct Expected {
    declared: Expectation,
    /// With one variant and level in each place: the best by the runs of the blocks.
    chosen: Option<Expectation>,
    defaults: Cell,
    /// Those of its metrics that are better when higher.
    higher: Vec<String>,
    is_testable: bool,
    sequence: Sequence,
    ratios: usize,
    rounds: usize,
    empty: usize,
    spent_ns: u64,
}

/// What the rounds of an expectation say.
pub(crate) struct Found {
    /// How many ratios the rounds gave.
    pub(crate) ratios: usize,
    pub(crate) reading: Option<Reading>,
    pub(crate) detectable: Option<f64>,
    pub(crate) outcome: Outcome,
    pub(crate) why: Option<String>,
}

impl Expected {
    pub(super) fn new<'m>(
        declared: &Expectation,
        defaults: &Cell,
        higher: impl Iterator<Item = &'m str>,
        cpus: u32,
    ) -> Option<Self> {
        let few = declared.needs_cpus.is_some_and(|needed| needed > cpus);
        Some(Self {
            declared: declared.clone(),
            chosen: None,
            defaults: defaults.clone(),
            higher: higher.map(str::to_owned).collect(),
            is_testable: declared.not_testable.is_none() && !few,
            sequence: Sequence::new(1.0 - CONFIDENCE, &[])?,
            ratios: 0,
            rounds: 0,
            empty: 0,
            spent_ns: 0,
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.declared.id
    }

    /// Chooses the best of several by these runs, which judge nothing.
    pub(super) fn choose(&mut self, map: &[&Measured]) {
        let source = OfRuns(map);
        let higher = |metric: &str| self.higher.iter().any(|one| one == metric);
        let (expectation, defaults) = (&self.declared, &self.defaults);
        let side = Side { source: &source, expectation, defaults, higher: &higher };
        let [value, over] =
            [&expectation.value, &expectation.over].map(|quantity| side.chosen(quantity.as_ref()?));
        self.chosen = value.zip(over).map(|(value, over)| Expectation {
            value: Some(value),
            over: Some(over),
            ..expectation.clone()
        });
    }

    pub(super) fn wants(&self, variant: &str, cell: &Cell) -> bool {
        let Some(chosen) = &self.chosen else { return false };
        if !self.is_testable || self.empty >= EMPTY_MAX || self.is_known() {
            return false;
        }
        chosen.quantities().into_iter().any(|quantity| {
            let about = chosen.about(quantity);
            about.is_some_and(|(variants, _)| variants.iter().any(|name| name == variant))
                && chosen.free_levels(quantity, cell, &self.defaults).is_some()
        })
    }

    pub(super) fn take(&mut self, rows: &[&Run], measured: &[&Measured]) {
        let Some(chosen) = &self.chosen else { return };
        let source = OfRuns(measured);
        let higher = |_: &str| false;
        let (expectation, defaults) = (chosen, &self.defaults);
        let side = Side { source: &source, expectation, defaults, higher: &higher };
        let [value, over] = [&chosen.value, &chosen.over]
            .map(|quantity| quantity.as_ref().map(|one| side.values(one)).unwrap_or_default());
        let ratios = log_ratios(&value, &over);
        self.rounds += 1;
        self.spent_ns += rows.iter().map(|run| run.process_ns).sum::<u64>();
        let failed = rows.iter().any(|run| run.status != Status::Ok);
        self.empty = if ratios.is_empty() && failed { self.empty + 1 } else { 0 };
        self.ratios += ratios.into_iter().filter(|ratio| self.sequence.push(*ratio)).count();
    }

    /// The ends of the interval of the ratio.
    fn ends(&self) -> Option<(f64, f64)> {
        self.sequence.interval().map(|hull| (hull.low.exp(), hull.high.exp()))
    }

    fn outcome(&self) -> Outcome {
        self.region().outcome(self.ends())
    }

    fn region(&self) -> Region {
        region(&self.declared)
    }

    fn is_known(&self) -> bool {
        let narrow = |hull: lab_stats::sequence::Hull| hull.half_width() <= PRECISION;
        self.outcome() != Outcome::CannotTell && self.sequence.interval().is_some_and(narrow)
    }

    /// What may be said now.
    pub(crate) fn found(&self) -> Found {
        let outcome = self.outcome();
        let estimate = self.sequence.estimate().map(f64::exp);
        let reading = estimate.map(|estimate| Reading {
            estimate,
            low_high: self.ends(),
            n: self.ratios,
            unit: Unit::Times,
        });
        let detectable = self.sequence.detectable(POWER);
        let why = (outcome == Outcome::CannotTell).then(|| self.needs()).flatten();
        Found { ratios: self.ratios, reading, detectable, outcome, why }
    }

    /// How far a ratio, as a logarithm, is from the bound next to it.
    fn nearest_bound(&self, estimate: f64) -> Option<f64> {
        let bounds = [self.region().low, self.region().high].map(f64::ln);
        let distances = bounds.into_iter().filter(|bound| bound.is_finite());
        distances.map(|bound| (bound - estimate).abs()).reduce(f64::min)
    }

    /// What its rounds so far promise of others.
    pub(super) fn promise(&self) -> Promise {
        let pairs = self.sequence.estimate().and_then(|estimate| {
            let nearest = self.nearest_bound(estimate).unwrap_or(PRECISION);
            self.sequence.pairs_until(nearest.min(PRECISION)).filter(|_| nearest > 0.0)
        });
        let a_round = self.ratios as f64 / self.rounds.max(1) as f64;
        Promise {
            round_ns: self.spent_ns as f64 / self.rounds.max(1) as f64,
            rounds_needed: pairs.map(|pairs| pairs as f64 / a_round),
        }
    }

    /// The ratio, as a logarithm, that so many rounds should tell from 1.
    pub(super) fn detectable_in(&self, rounds: f64) -> Option<(f64, f64)> {
        let pairs = rounds * self.ratios as f64 / self.rounds.max(1) as f64;
        let detectable = self.sequence.detectable_after(pairs.round() as usize, POWER)?;
        Some((detectable, detectable))
    }

    /// What an answer still takes.
    fn needs(&self) -> Option<String> {
        let Some(estimate) = self.sequence.estimate() else {
            return Some(format!("{} pairs are too few", self.ratios));
        };
        let nearest = self.nearest_bound(estimate)?;
        let pairs = (nearest > 0.0).then(|| self.sequence.pairs_until(nearest))??;
        let rounds = pairs.saturating_sub(self.sequence.counted()) * self.rounds;
        let rounds = rounds as f64 / self.ratios.max(1) as f64;
        Some(more("round", rounds, self.rounds, self.spent_ns))
    }
}
