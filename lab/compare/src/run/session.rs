//! A comparison at work: its rounds and its counts.

use std::collections::BTreeMap;

use lab_console::{Failure, streams};

use super::{
    budget::{Budget, Said},
    commands::Command,
    control,
    held::Held,
    iteration::Iteration,
    measures::Addresses,
    options::{Format, Options},
    progress::{ProgressLine, progress},
    record::{Record, Round},
    runner::{Runner, Stopped, Stopwatch},
    same_bytes::SameBytes,
    sittings::Sittings,
    untimed::Counted,
};
use crate::{Comparison, Next, RoundPlan, Schedule};

/// A comparison and the rounds that it has had.
pub(super) struct Session<'a> {
    pub(super) options: &'a Options,
    pub(super) comparison: Comparison,
    pub(super) record: Record,
    pub(super) rounds: Vec<Round>,
    pub(super) seed: u64,
    pub(super) commands: Vec<Command>,
    pub(super) addresses: Addresses,
    pub(super) absent: BTreeMap<&'static str, String>,
    /// What was said of the commands before the first round.
    pub(super) notes: Vec<String>,
    pub(super) same: SameBytes,
    pub(super) counted: Counted,
    pub(super) sittings: Sittings,
}

impl Session<'_> {
    pub(super) fn run(&mut self, runner: &Runner<'_>) -> Result<(), Stopped> {
        let (runs, format) = (&self.options.runs, self.options.result.format);
        if format == Format::Text {
            streams::tell(self.announcement());
        }
        let before = Held::new(&runs.data, &self.commands);
        for sentence in runner.set_up()? {
            self.note(sentence);
        }
        // --setup may have made the programs.
        for path in Held::new(&runs.data, &self.commands).since(&before) {
            self.note(format!("--setup replaced {}, which is compared", path.display()));
        }
        if self.options.control {
            control::copy(&runs.data, &self.commands[0], &runner.folder)?;
        }
        runner.hold()?;
        self.same = SameBytes::of(&self.commands, |path| runner.hash_of(path));
        self.same.sentences(&self.commands).into_iter().for_each(|note| self.note(note));
        self.record.begin(runs, &self.commands)?;
        self.begin(runner)?;
        for sentence in runner.check().map_err(|stopped| self.with_hint(stopped))? {
            self.note(sentence);
        }
        let design = self.comparison.settings().design();
        let builds = self.options.builds();
        let schedule = |seed| Schedule::of(seed, design.clone()).with_builds(builds);
        // What warms up is drawn as the rounds are, and is no part of their schedule.
        let warmup = schedule(self.seed.wrapping_add(1)).take(runs.warmup);
        for (number, plan) in warmup.enumerate() {
            runner.iteration.set(Iteration::Warmup(number));
            runner.round(plan)?;
        }
        let mut plans = schedule(self.seed).after(self.rounds.len());
        let watch = Stopwatch::after(self.elapsed_s());
        let mut budget = Budget::new(self.comparison.settings(), &self.rounds);
        let mut line = ProgressLine::new(format == Format::Json);
        self.warm(runner)?;
        while self.goes_on(runner, &mut plans).inspect_err(|_| line.end())? {
            let plan = plans.next().expect("a schedule has no end");
            // Sessions have their own parts of the budget.
            if self.sessions() == 1 && !self.may_begin(&plan, &mut budget, &line) {
                self.comparison.has_no_room();
                break;
            }
            runner.iteration.set(Iteration::Run(self.rounds.len()));
            let mut round = match runner.round(plan) {
                Ok(round) => round,
                Err(stopped) => {
                    line.end();
                    return Err(stopped);
                }
            };
            (round.elapsed_s, round.session) = (watch.seconds(), self.sittings.now);
            budget.took(round.elapsed_s - self.elapsed_s(), runner.washed_s.get());
            self.record.append(&round)?;
            add(&mut self.comparison, &round)?;
            self.rounds.push(round);
            if line.due() {
                line.tell(&self.place().unwrap_or_else(|| self.progress(runner)));
            }
        }
        line.end();
        if self.sessions() == 1 && self.comparison.next_step() == Next::OutOfBudget {
            self.may_go_on(&mut budget, &line);
        }
        Ok(())
    }

    /// Of the rounds so far.
    fn elapsed_s(&self) -> f64 {
        self.rounds.last().map_or(0.0, |round| round.elapsed_s)
    }

    fn progress(&self, runner: &Runner<'_>) -> String {
        let rounds = (runner.metrics[0], &self.rounds[..]);
        let settings = self.comparison.settings();
        progress(&self.comparison.state(), &self.commands, rounds, settings)
    }

    /// Whether there is room for the next round, after what the budget says for people.
    fn may_begin(&mut self, plan: &RoundPlan, budget: &mut Budget, line: &ProgressLine) -> bool {
        self.may_go_on(budget, line)
            && budget.has_room(self.comparison.rounds(), self.elapsed_s(), plan)
    }

    /// Says once what the first round means for the budget; whether that leaves room for an answer.
    fn may_go_on(&mut self, budget: &mut Budget, line: &ProgressLine) -> bool {
        let Some(said) = budget.said(self.rounds.len(), self.elapsed_s()) else { return true };
        line.end();
        match said {
            Said::Within(sentence) if self.options.result.format == Format::Text => {
                streams::tell(sentence);
            }
            Said::Within(_) => {}
            Said::Longer(sentence) => self.note(sentence),
            Said::NoRoom(sentence) => {
                self.note(sentence);
                return false;
            }
        }
        true
    }

    pub(super) fn note(&mut self, sentence: String) {
        streams::tell(format_args!("note: {sentence}"));
        self.notes.push(sentence);
    }

    /// Runs the commands under the tools that count.
    pub(super) fn count(&mut self, runner: &Runner<'_>) -> Result<(), Stopped> {
        self.counted = Counted::new(runner, &self.commands, self.options.counts)?;
        Ok(())
    }
}

pub(super) fn add(comparison: &mut Comparison, round: &Round) -> Result<(), Failure> {
    let (order, runs, elapsed_s) = round.timed();
    let added = comparison.add(order, runs, elapsed_s);
    // Rounds come from here or from a file, which may have been edited.
    added.map_err(|error| Failure::files(error.to_string()))?;
    comparison.ended(runs, &round.statuses);
    Ok(())
}
