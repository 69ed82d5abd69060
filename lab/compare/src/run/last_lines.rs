//! The last lines, which are the answer: one command against the first in a sentence, several
//! ranked, the fastest first.

use lab_console::seconds_text;
use lab_stats::{
    describe::median,
    outcome::Outcome,
    verdict::{Size, Verdict},
};

use super::{
    commands::Command,
    export::column,
    metric::Metric,
    ratio::Ratio,
    record::Round,
    same_bytes::{ABOUT, SameBytes},
    so_far::SoFar,
    table::{self, counts},
    text::{Words, confidence, could_have_shown, counted, interval, primary, why_not},
    waits::Waits,
};
use crate::{CandidateState, State};

/// What is known at the end.
pub(super) struct LastLines<'a> {
    pub(super) state: &'a State,
    pub(super) commands: &'a [Command],
    pub(super) metrics: &'a [Metric],
    pub(super) rounds: &'a [Round],
    pub(super) words: Words<'a>,
    pub(super) same: &'a SameBytes,
}

impl LastLines<'_> {
    /// A head and below it the answer, or a row for each command.
    pub(super) fn lines(&self) -> Vec<String> {
        let spent = seconds_text(self.state.elapsed_s);
        let (rounds, label) = (self.state.rounds, self.words.metric.label());
        let level = confidence(self.words.settings);
        let reference = &self.commands[0].name;
        match &self.state.candidates[..] {
            [one] => {
                let rounds = counted(one.rounds, "round");
                let head = format!("{rounds} in {spent}, {label} of a typical run ({level}):");
                vec![head, self.sentence(one)]
            }
            _ => {
                let head = format!(
                    "{} in {spent}, {label} of a typical run against {reference} ({level}):",
                    counted(rounds, "round")
                );
                [head].into_iter().chain(self.ranking()).collect()
            }
        }
    }

    /// "new is 6.4 × faster than old (5.9 … 6.9)".
    fn sentence(&self, candidate: &CandidateState) -> String {
        let (metric, names) = (self.words.metric, [&self.commands[0].name, &self.commands[1].name]);
        let [old, new] = names;
        let after = self.after(candidate, 0);
        let (is_time, label) = (metric.is_time(), metric.label());
        let joined = match (candidate.verdict.outcome, self.ratio(candidate)) {
            (Outcome::Faster | Outcome::Slower, Some(ratio)) if is_time => {
                format!("{new} is {} than {old}", ratio.word)
            }
            (Outcome::Faster | Outcome::Slower, Some(ratio)) => {
                format!("{new} has {} the {label} of {old}", ratio.word)
            }
            (outcome @ (Outcome::Faster | Outcome::Slower), None) if is_time => {
                format!("{new} is {outcome} than {old}")
            }
            (Outcome::Faster, None) => format!("{new} has less {label} than {old}"),
            (Outcome::Slower, None) => format!("{new} has more {label} than {old}"),
            (Outcome::Equivalent, _) => format!("{new} and {old} are equivalent"),
            (Outcome::CannotTell, _) => match self.few(candidate, 0) {
                Some(few) => return few,
                None => format!("cannot tell {new} from {old}"),
            },
            (outcome, _) => format!("{new} against {old}: {outcome}"),
        };
        joined + &after
    }

    /// A row for each command; what has no estimate is last.
    fn ranking(&self) -> Vec<String> {
        let shift = |place: usize| match place.checked_sub(1) {
            None => Some(0.0),
            Some(number) => self.shift(number),
        };
        let mut places: Vec<usize> = (0..self.commands.len()).collect();
        places.sort_by(|a, b| {
            let [a, b] = [*a, *b].map(|place| shift(place).unwrap_or(f64::INFINITY));
            a.total_cmp(&b)
        });
        let rows: Vec<Vec<String>> = places.iter().map(|place| self.row(*place)).collect();
        let metrics = self.columns().into_iter().map(|metric| metric.label().to_owned());
        let best = if self.words.metric.is_time() { "fastest first" } else { "least first" };
        let head: Vec<String> =
            [best.to_owned()].into_iter().chain(metrics).chain([String::new()]).collect();
        table::aligned(&[vec![head], rows].concat())
    }

    /// The primary metric, and the CPU time beside the wall time.
    fn columns(&self) -> Vec<Metric> {
        match self.words.metric {
            Metric::Wall => vec![Metric::Wall, Metric::Cpu],
            other => vec![other],
        }
    }

    fn row(&self, place: usize) -> Vec<String> {
        let shown = |metric: Metric| {
            let values = column(self.metrics, self.rounds, place, metric);
            median(&values).map_or("-".to_owned(), |value| table::shown(metric, value))
        };
        let name = table::short(&self.commands[place].name, table::NAME_CELLS);
        let medians = self.columns().into_iter().map(shown);
        let said = match place.checked_sub(1) {
            None => "reference".to_owned(),
            Some(number) => self.told(number),
        };
        [name].into_iter().chain(medians).chain([said]).collect()
    }

    /// "6.4 × faster (5.9 … 6.9)", "slower: +1.98 % (+1.70 … +2.28)".
    fn told(&self, number: usize) -> String {
        let candidate = &self.state.candidates[number];
        let outcome = candidate.verdict.outcome;
        let is_told = matches!(outcome, Outcome::Faster | Outcome::Slower);
        let word = match self.ratio(candidate).filter(|_| is_told) {
            Some(ratio) => ratio.word,
            None if self.words.metric.is_time() || !is_told => outcome.to_string(),
            None if outcome == Outcome::Faster => "less".to_owned(),
            None => "more".to_owned(),
        };
        match self.few(candidate, number).filter(|_| outcome == Outcome::CannotTell) {
            Some(few) => few,
            None => word + &self.after(candidate, number),
        }
    }

    /// The interval, and what else belongs to the verdict.
    fn after(&self, candidate: &CandidateState, number: usize) -> String {
        let outcome = candidate.verdict.outcome;
        let is_told = matches!(outcome, Outcome::Faster | Outcome::Slower);
        let mut after = match (self.ratio(candidate), candidate.verdict.size) {
            (Some(ratio), size) if is_told => {
                let ends = ratio.ends.map_or(String::new(), |ends| format!(" ({ends})"));
                let within = if size == Some(Size::Within) { ", within the margin" } else { "" };
                ends + within
            }
            (_, Some(Size::Beyond)) => ", beyond the margin".to_owned(),
            (_, Some(Size::Within)) => ", within the margin".to_owned(),
            (_, None) => String::new(),
        };
        if !is_told || self.ratio(candidate).is_none() {
            after += &self.difference(candidate, number);
        }
        self.clauses(candidate, number).iter().fold(after, |after, clause| after + "; " + clause)
    }

    /// What else belongs to the verdict, in a row as short as can be.
    fn clauses(&self, candidate: &CandidateState, number: usize) -> Vec<String> {
        let is_row = self.state.candidates.len() > 1;
        let waits = Waits::of(candidate, number, self.metrics, self.rounds);
        let waits = waits.map(|Waits { how, cpu }| match is_row {
            true => how.to_owned(),
            false => format!("{how}: {cpu}"),
        });
        let settings = self.words.settings;
        let is_open = candidate.verdict == Verdict::of(Outcome::CannotTell);
        let open = match is_row && is_open && settings.precision.is_none() {
            true => Some(could_have_shown(candidate)),
            false => why_not(candidate, settings),
        };
        let same = self.same.is_first(number).then(|| ABOUT.to_owned());
        let [old, new] = [0, number + 1].map(|place| &self.commands[place].name);
        let endings = candidate.endings.as_ref().map(|endings| endings.said([old, new]));
        endings.into_iter().chain(waits).chain(open).chain(same).collect()
    }

    /// ": +1.98 % (+1.70 … +2.28)", and of counts near 0 the counts.
    fn difference(&self, candidate: &CandidateState, number: usize) -> String {
        let Some(found) = primary(candidate) else { return String::new() };
        let metric = self.words.metric;
        let medians = [0, number + 1]
            .map(|command| median(&column(self.metrics, self.rounds, command, metric)));
        match medians {
            [Some(old), Some(new)] if table::is_near_nothing(metric, [old, new]) => {
                format!(": {}", counts([old, new]))
            }
            _ => format!(": {}", interval(found)),
        }
    }

    fn ratio(&self, candidate: &CandidateState) -> Option<Ratio> {
        let found = primary(candidate)?;
        Ratio::of(self.words.metric, found.shift, Some(found.interval?))
    }

    fn shift(&self, number: usize) -> Option<f64> {
        let candidate = &self.state.candidates[number];
        if candidate.endings.is_some() {
            return None;
        }
        let estimate = primary(candidate).map(|found| found.shift);
        estimate.or_else(|| Some(SoFar::of(self.rounds, number)?.shift()))
    }

    /// What too few rounds for an interval have shown.
    fn few(&self, candidate: &CandidateState, number: usize) -> Option<String> {
        if primary(candidate).is_some_and(|found| found.interval.is_some()) {
            return None;
        }
        let (metric, settings) = (self.words.metric, self.words.settings);
        let [old, new] = [0, number + 1].map(|place| self.commands[place].name.as_str());
        let is_one = self.state.candidates.len() == 1;
        let Some(so_far) = SoFar::of(self.rounds, number) else {
            return Some(match is_one {
                true => format!("cannot tell {new} from {old}: no round has ended"),
                false => "no round has ended".to_owned(),
            });
        };
        let (rounds, fewest) = (candidate.rounds, settings.fewest_pairs());
        let missing = match rounds < fewest {
            true => format!("an answer takes {fewest} rounds, and {rounds} ended"),
            false => format!("no interval after {rounds} rounds"),
        };
        let same = if self.same.is_first(number) { format!("; {ABOUT}") } else { String::new() };
        let apart = if so_far.is_apart() { " in each run" } else { "" };
        Some(match is_one {
            true => {
                let said = so_far.said(metric, [old, new]);
                format!("cannot tell {new} from {old}: {said}{apart}; {missing}{same}")
            }
            false => format!("{} so far{apart}; {missing}{same}", so_far.ratio(metric)),
        })
    }
}
