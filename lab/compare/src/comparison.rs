//! The comparison: rounds in, what may be said out.

use lab_stats::{
    outcome::Outcome,
    sequence::{Hull, Sequence},
    tail_sequence::{Earlier, TailSequence, TailState},
    verdict::{Missing, Size, Verdict, control_suffices, reading},
};
use serde::Serialize;

use crate::{Endings, Question, Settings, SettingsError, TailSide};

/// Of [`CandidateState::detectable`]: what reports of other comparisons take too.
pub(crate) const POWER: f64 = 0.8;

/// Whether to run another round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Something asked is not known yet, and there is budget.
    Round,
    /// All candidates have their answers, or none will get one.
    Decided,
    /// The budget is spent.
    OutOfBudget,
}

/// A round that does not fit the comparison.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoundError {
    /// Not one place for each command.
    #[error("a round has places for {found} runs where {expected} commands are compared")]
    Runs {
        /// In the round.
        found: usize,
        /// In the settings.
        expected: usize,
    },
    /// A round of nobody's question.
    #[error("a round without the first command, or with it alone, compares nothing")]
    Nothing,
    /// Not one value for each metric.
    #[error("a run has {found} values where {expected} metrics are measured")]
    Values {
        /// In the run.
        found: usize,
        /// In the comparison.
        expected: usize,
    },
}

/// An estimated difference of logarithms with its interval, where there is one yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// ln(candidate / reference).
    pub shift: f64,
    /// The ends of the confidence sequence now.
    pub interval: Option<[f64; 2]>,
    /// The pairs that counted.
    pub pairs: usize,
}

/// One metric of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricState {
    /// As the comparison was told.
    pub metric: String,
    /// `None` before a pair counts.
    pub estimate: Option<Estimate>,
}

/// What is known of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateState {
    /// Finished rounds that it was part of.
    pub rounds: usize,
    /// Of the primary metric.
    pub verdict: Verdict,
    /// Every metric, the primary first.
    pub metrics: Vec<MetricState>,
    /// Whether it takes longer than the reference by more than the margin, where either is shown:
    /// what a gate asks.
    pub slower_beyond_margin: Option<bool>,
    /// The primary metric's tail.
    pub tail: TailState,
    /// Whether more of its runs are slow, by the settings' share, where either is shown: what the
    /// other gate asks.
    pub more_slow_runs: Option<bool>,
    /// Whether what the settings ask is known of it.
    pub answered: bool,
    /// The difference of logarithms of the primary metric that the pairs so far would have told
    /// from 0 with a probability of 80 %; `None` before there is an interval.
    pub detectable: Option<f64>,
    /// The seconds to go until an answer is to be expected.
    pub seconds_to_go: Option<f64>,
    /// How its runs and the reference's ended, where that forbids a verdict and any ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endings: Option<Endings>,
}

/// What is known after a round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// Finished rounds, those of the candidate that had the fewest.
    pub rounds: usize,
    /// Seconds since the first.
    pub elapsed_s: f64,
    /// The reference against a copy of its program, of the primary metric.
    pub control: Option<Estimate>,
    /// One for each command but the first.
    pub candidates: Vec<CandidateState>,
    /// Whether to go on.
    pub next: Next,
}

pub(crate) struct Candidate {
    pub(crate) rounds: usize,
    /// One for each metric, the primary first.
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) tail: TailSequence,
    endings: Endings,
}

/// A comparison in progress.
pub struct Comparison {
    pub(crate) settings: Settings,
    metrics: Vec<String>,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) control: Option<Sequence>,
    pub(crate) control_rounds: usize,
    earlier: Earlier,
    withheld: bool,
    /// Whether the next round would end after the budget.
    has_no_room: bool,
    pub(crate) elapsed_s: f64,
}

impl Comparison {
    /// One without rounds. The first metric is the primary one, which the verdicts are about; of
    /// every metric less is better.
    pub fn new(settings: Settings, metrics: &[&str]) -> Result<Self, SettingsError> {
        settings.check()?;
        let watched = [0.0, settings.log_margin(), -settings.log_margin()];
        let sequence =
            |alpha| Sequence::new(alpha, &watched).ok_or(SettingsError::Alpha(settings.alpha));
        let alpha = settings.alpha_each();
        let candidate = || {
            let sequences: Result<_, _> = metrics.iter().map(|_| sequence(alpha)).collect();
            let tail = TailSequence::new(alpha, settings.tail);
            let tail = tail.ok_or(SettingsError::Tail(settings.tail))?;
            let endings = Endings::default();
            Ok(Candidate { rounds: 0, sequences: sequences?, tail, endings })
        };
        let candidates = (0..settings.candidates).map(|_| candidate()).collect::<Result<_, _>>()?;
        let control = settings.control.then(|| sequence(settings.alpha)).transpose()?;
        let metrics = metrics.iter().map(|metric| (*metric).to_owned()).collect();
        Ok(Self {
            settings,
            metrics,
            candidates,
            control,
            control_rounds: 0,
            earlier: Earlier::default(),
            withheld: false,
            has_no_room: false,
            elapsed_s: 0.0,
        })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes a finished round: the commands in their order, which may be empty where it is not
    /// known; by command the values of its run, the reference first and the control
    /// last, none of a command that the round did not hold; and the seconds since the comparison
    /// began.
    pub fn add(
        &mut self,
        order: &[usize],
        runs: &[Vec<f64>],
        elapsed_s: f64,
    ) -> Result<Next, RoundError> {
        self.fits(runs)?;
        let reference = &runs[0];
        let place = |command: usize| order.iter().position(|other| *other == command);
        let ran_last = |command: usize| Some(place(0)? < place(command)?);
        let median = self.earlier.median();
        let candidates = self.candidates.iter_mut().zip(&runs[1..]).enumerate();
        for (number, (candidate, run)) in candidates.filter(|(_, (_, run))| !run.is_empty()) {
            candidate.rounds += 1;
            let values = candidate.sequences.iter_mut().zip(reference.iter().zip(run));
            for (sequence, (reference, value)) in values {
                push(sequence, log_ratio(*reference, *value), ran_last(number + 1));
            }
            if let Some(median) = median {
                candidate.tail.push(reference[0], run[0], median);
            }
        }
        let (last, copy) = (runs.len() - 1, &runs[runs.len() - 1]);
        if let Some(control) = self.control.as_mut().filter(|_| !copy.is_empty()) {
            self.control_rounds += 1;
            push(control, log_ratio(reference[0], copy[0]), ran_last(last));
            self.withheld |= control.excludes(0.0);
        }
        self.earlier.push(reference[0]);
        self.elapsed_s = elapsed_s;
        Ok(self.next_step())
    }

    /// Takes how the runs of a round ended, by command.
    pub fn ended(&mut self, runs: &[Vec<f64>], statuses: &[i32]) {
        let of_candidates = runs.iter().zip(statuses).skip(1);
        for (candidate, (run, status)) in self.candidates.iter_mut().zip(of_candidates) {
            if !run.is_empty() {
                candidate.endings.push([statuses[0], *status]);
            }
        }
    }

    /// Whether how its runs ended forbids to say anything of a candidate's times.
    fn is_forbidden(&self, candidate: usize) -> bool {
        self.candidates[candidate].endings.forbid_a_ratio()
    }

    fn fits(&self, runs: &[Vec<f64>]) -> Result<(), RoundError> {
        let (found, expected) = (runs.len(), self.settings.commands());
        if found != expected {
            return Err(RoundError::Runs { found, expected });
        }
        let expected = self.metrics.len();
        let is_odd = |run: &&Vec<f64>| !run.is_empty() && run.len() != expected;
        if let Some(run) = runs.iter().find(is_odd) {
            return Err(RoundError::Values { found: run.len(), expected });
        }
        if runs[0].is_empty() || runs[1..].iter().all(Vec::is_empty) {
            return Err(RoundError::Nothing);
        }
        Ok(())
    }

    /// The rounds of the candidate that had the fewest.
    pub(crate) fn rounds(&self) -> usize {
        self.candidates.iter().map(|candidate| candidate.rounds).min().unwrap_or_default()
    }

    /// No further round ends within the budget.
    pub fn has_no_room(&mut self) {
        self.has_no_room = true;
    }

    /// Whether to run another round.
    pub fn next_step(&self) -> Next {
        let decided = |candidate: usize| self.is_answered(candidate);
        let rounds = self.rounds();
        let most = self.settings.most_rounds.is_some_and(|most| rounds >= most);
        let spent =
            self.elapsed_s >= self.settings.budget_s && rounds >= self.settings.least_rounds;
        if self.withheld || (0..self.candidates.len()).all(decided) {
            Next::Decided
        } else if most || spent || self.has_no_room {
            Next::OutOfBudget
        } else {
            Next::Round
        }
    }

    /// Whether what the settings ask is known of a candidate.
    fn is_answered(&self, candidate: usize) -> bool {
        if self.is_forbidden(candidate) {
            // Enough runs to count how they end.
            return self.candidates[candidate].rounds >= self.settings.fewest_pairs();
        }
        match self.settings.question {
            Question::Direction => self.verdict(candidate).settles(),
            Question::Size => self.is_sized(candidate),
            Question::Margin => self.slower_beyond_margin(candidate).is_some(),
            Question::Tail => self.more_slow_runs(candidate).is_some(),
        }
    }

    /// Whether a candidate has a verdict, and it is known by how much.
    fn is_sized(&self, candidate: usize) -> bool {
        let verdict = self.verdict(candidate);
        // Where a precision is asked for, it alone is enough. That a difference lies beyond the
        // margin does not tell how large it is.
        let by_margin = || {
            let is_small = verdict.size == Some(Size::Within);
            self.settings.precision.is_none()
                && (verdict.outcome == Outcome::Equivalent || is_small)
        };
        let sequence = &self.candidates[candidate].sequences[0];
        let by_width = || {
            let enough = self.settings.enough(sequence.estimate()?.abs());
            Some(sequence.interval()?.half_width() <= enough)
        };
        verdict.settles() && (by_margin() || by_width() == Some(true))
    }

    /// What may be said now of the candidate of this number, 0 being the second command.
    pub fn verdict(&self, candidate: usize) -> Verdict {
        if self.withheld || self.is_forbidden(candidate) {
            return Verdict::of(Outcome::Withheld);
        }
        let sequence = &self.candidates[candidate].sequences[0];
        let Some(verdict) = reading(sequence, self.settings.log_margin()) else {
            return Verdict::of(Outcome::CannotTell);
        };
        match self.control_suffices(sequence) {
            true => verdict,
            false => Verdict::without(Missing::Control),
        }
    }

    /// Everything that is known now.
    pub fn state(&self) -> State {
        State {
            rounds: self.rounds(),
            elapsed_s: self.elapsed_s,
            control: self.control.as_ref().and_then(estimate),
            candidates: (0..self.candidates.len()).map(|number| self.candidate(number)).collect(),
            next: self.next_step(),
        }
    }

    fn candidate(&self, number: usize) -> CandidateState {
        let Candidate { rounds, sequences, tail, endings } = &self.candidates[number];
        let forbidden = self.is_forbidden(number);
        let metrics = self.metrics.iter().zip(sequences);
        CandidateState {
            rounds: *rounds,
            verdict: self.verdict(number),
            metrics: metrics
                .map(|(metric, sequence)| MetricState {
                    metric: metric.clone(),
                    estimate: estimate(sequence).filter(|_| !forbidden),
                })
                .collect(),
            slower_beyond_margin: self.slower_beyond_margin(number),
            tail: if forbidden { nothing_of_the_tail() } else { tail.state() },
            more_slow_runs: self.more_slow_runs(number),
            answered: self.is_answered(number),
            detectable: sequences[0].detectable(POWER).filter(|_| !forbidden),
            seconds_to_go: self.seconds_to_go(number).filter(|_| !forbidden),
            endings: forbidden.then(|| endings.clone()),
        }
    }

    /// Whether a candidate takes longer by more than the margin; `None` while that is open.
    pub fn slower_beyond_margin(&self, candidate: usize) -> Option<bool> {
        let sequence = &self.candidates[candidate].sequences[0];
        let margin = self.settings.log_margin();
        if self.withheld || self.is_forbidden(candidate) || !sequence.excludes(margin) {
            return None;
        }
        let Hull { low, high } = sequence.interval()?;
        let side = if high <= margin { Some(false) } else { (low >= margin).then_some(true) };
        side.filter(|_| self.control_suffices(sequence))
    }

    /// Whether more of a candidate's runs are slow, by the settings' share; `None` while that is
    /// open.
    pub fn more_slow_runs(&self, candidate: usize) -> Option<bool> {
        let withheld = self.withheld || self.is_forbidden(candidate);
        self.candidates[candidate].tail.has_more().filter(|_| !withheld)
    }

    fn control_suffices(&self, sequence: &Sequence) -> bool {
        let margin = self.settings.log_margin();
        self.control.as_ref().is_none_or(|control| control_suffices(control, sequence, margin))
    }
}

fn nothing_of_the_tail() -> TailState {
    TailState { pairs: 0, shares: None, slow_share: [-1.0, 1.0], side: TailSide::Open }
}

fn push(sequence: &mut Sequence, difference: f64, ran_last: Option<bool>) {
    match ran_last {
        Some(ran_last) => sequence.push_ordered(difference, ran_last),
        None => sequence.push(difference),
    };
}

fn estimate(sequence: &Sequence) -> Option<Estimate> {
    Some(Estimate {
        shift: sequence.estimate()?,
        interval: sequence.interval().map(|hull| [hull.low, hull.high]),
        pairs: sequence.counted(),
    })
}

/// ln(value / reference). Counts may be 0, and one more of each then is close enough; exchanging
/// the two changes nothing but the sign in either case, which is what the coin needs.
pub fn log_ratio(reference: f64, value: f64) -> f64 {
    let plus = if reference > 0.0 && value > 0.0 { 0.0 } else { 1.0 };
    ((value + plus) / (reference + plus)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_nothing_is_compared_as_one_more_of_each() {
        for (reference, value, expected) in
            [(2.0, 4.0, 2.0), (0.0, 3.0, 4.0), (3.0, 0.0, 0.25), (0.0, 0.0, 1.0), (4.0, 2.0, 0.5)]
        {
            assert_eq!(log_ratio(reference, value), f64::ln(expected), "{reference} {value}");
        }
    }
}
