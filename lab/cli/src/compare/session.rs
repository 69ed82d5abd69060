//! A comparison at work: its rounds, its counts, and what is said at its end.

use std::collections::BTreeMap;

use lab_compare::{Comparison, Next, Schedule, State};
use lab_console::write;
use lab_stats::outcome::Outcome;

use super::{
    Command, CompareArgs, Metric, ProgressLine, Runner, Stopped, Stopwatch,
    args::FailOn,
    builds, control,
    export::{self, Measured},
    held::Held,
    left::Left,
    measures::{self, Addresses, LayoutReport},
    record::{Record, Round},
    spend, table,
    text::{announcement, items, summary},
    untimed::Counted,
};
use crate::{Exit, Failure, plain, streams};

/// Below this many microseconds a command is mostly its process's start and end.
const SHORT: f64 = 1_000.0;
/// The microseconds that several runs of such a command should take together.
const BATCH: f64 = 5_000.0;

/// A comparison and the rounds that it has had.
pub(super) struct Session {
    pub(super) comparison: Comparison,
    pub(super) record: Record,
    pub(super) rounds: Vec<Round>,
    pub(super) seed: u64,
    pub(super) commands: Vec<Command>,
    pub(super) addresses: Addresses,
    pub(super) absent: BTreeMap<&'static str, String>,
    /// What was said of the commands before the first round.
    pub(super) notes: Vec<String>,
    pub(super) counted: Counted,
}

impl Session {
    pub(super) fn run(&mut self, runner: &Runner<'_>) -> Result<(), Stopped> {
        let args = runner.args;
        if !args.json {
            streams::tell(announcement(self.comparison.settings()));
        }
        let before = Held::new(args, &self.commands);
        runner.set_up()?;
        // --setup may have made the programs.
        for path in Held::new(args, &self.commands).since(&before) {
            self.note(format!("--setup replaced {}, which is compared", path.display()));
        }
        if args.control {
            control::copy(args, &self.commands[0], &runner.folder)?;
        }
        runner.hold()?;
        self.record.begin(args, &self.commands)?;
        for sentence in runner.check()? {
            self.note(sentence);
        }
        let design = self.comparison.settings().design();
        let schedule = |seed| Schedule::of(seed, design.clone()).with_builds(args.builds.count());
        // What warms up is drawn as the rounds are, and is no part of their schedule.
        for plan in schedule(self.seed.wrapping_add(1)).take(args.warmup) {
            runner.round(plan)?;
        }
        let mut plans = schedule(self.seed).after(self.rounds.len());
        let watch = Stopwatch::after(self.rounds.last().map_or(0.0, |round| round.elapsed_s));
        let mut line = ProgressLine::new(args.json);
        while self.comparison.next_step() == Next::Round {
            let plan = plans.next().expect("a schedule has no end");
            let mut round = match runner.round(plan) {
                Ok(round) => round,
                Err(stopped) => {
                    line.end();
                    return Err(stopped);
                }
            };
            round.elapsed_s = watch.seconds();
            self.record.append(&round)?;
            add(&mut self.comparison, &round)?;
            self.rounds.push(round);
            if line.due() {
                let settings = self.comparison.settings();
                line.show(&self.comparison.state(), &self.commands, settings);
            }
        }
        line.end();
        Ok(())
    }

    pub(super) fn note(&mut self, sentence: String) {
        streams::tell(format_args!("note: {sentence}"));
        self.notes.push(sentence);
    }

    /// Runs the commands under the tools that count.
    pub(super) fn count(&mut self, runner: &Runner<'_>) -> Result<(), Stopped> {
        self.counted = Counted::new(runner, &self.commands)?;
        Ok(())
    }

    pub(super) fn finish(
        &self,
        runner: &Runner<'_>,
        attempt: Option<(u64, f64)>,
        exit: Option<Exit>,
    ) -> Result<Exit, Failure> {
        let (args, metrics) = (runner.args, &runner.metrics);
        let settings = self.comparison.settings();
        let state = self.comparison.state();
        let exit = exit.unwrap_or_else(|| self::exit(&state, args.fail_on));
        let layout = self.layout(args);
        let tables: Vec<Vec<table::Row>> = (state.candidates.iter().enumerate())
            .map(|(number, candidate)| table::rows(candidate, number, metrics, &self.rounds))
            .collect();
        let left = Left::of(&self.rounds, &self.commands, settings);
        let late = self.late_notes(runner);
        let notes = &[&self.notes[..], &late].concat();
        let printed = if args.json {
            let (absent, counted) = (&self.absent, &self.counted);
            let measured =
                Measured { inner: args.measures.inner, layout: &layout, absent, counted, notes };
            let mut result =
                export::result(&state, &self.commands, settings, self.seed, exit, &measured);
            builds::add_to(&mut result, &self.commands, &self.rounds, settings);
            left.add_to(&mut result);
            if let Some((attempt, _)) = attempt {
                result["attempt"] = attempt.into();
            }
            streams::print((plain::json(&result.to_string()) + "\n").as_bytes())
        } else {
            let mut lines = summary(&state, &self.commands, metrics[0], settings);
            lines.extend(builds::lines(&self.commands, &self.rounds, settings));
            lines.extend(left.lines(&self.commands));
            lines.extend(self.details(&tables, &layout));
            lines.extend(attempt.map(|(attempt, alpha)| {
                format!("attempt {attempt}: error level {}", spend::percent(alpha))
            }));
            streams::print((plain::lines(&lines.join("\n")) + "\n").as_bytes())
        };
        late.iter().for_each(|note| streams::tell(format_args!("note: {note}")));
        let runs = args.export_json.as_ref().map_or(Ok(()), |path| {
            let runs = export::hyperfine(&self.commands, metrics, &self.rounds);
            write(path, plain::json(&format!("{runs:#}\n")))
        });
        let page = args
            .export_markdown
            .as_ref()
            .map_or(Ok(()), |path| write(path, self.page(&state, metrics, &tables)));
        // What cannot be written keeps nothing else from being so.
        let drawn = self.draw(runner, &state);
        let annotated = self.annotate(runner, &state, &tables, notes);
        printed.and(runs).and(page).and(drawn).and(annotated)?;
        Ok(exit)
    }
}

impl Session {
    /// What the timed runs have shown of the commands, beside their times.
    fn late_notes(&self, runner: &Runner<'_>) -> Vec<String> {
        let mut notes: Vec<String> = (self.commands.iter().enumerate())
            .filter_map(|(place, command)| varying_status(place, &command.name, &self.rounds))
            .collect();
        let times = export::column(&runner.metrics, &self.rounds, 0, Metric::Wall);
        let median = lab_stats::describe::median(&times).filter(|median| *median < SHORT);
        if let Some(median) = median.filter(|_| runner.args.measures.inner == 1) {
            notes.push(format!(
                "{} takes less than 1 ms, most of it for starting a process; --inner {} runs it \
                 that many times within each timed run",
                self.commands[0].name,
                (BATCH / median).ceil()
            ));
        }
        notes
    }

    /// The tables in Markdown, and below them what a person reads beside the verdicts.
    pub(super) fn page(
        &self,
        state: &State,
        metrics: &[Metric],
        tables: &[Vec<table::Row>],
    ) -> String {
        let page = export::markdown(state, &self.commands, metrics, &self.rounds, tables);
        let items = items(state, &self.commands, self.comparison.settings());
        let items: String = items.iter().map(|item| format!("- {item}\n")).collect();
        format!("{page}\n{items}")
    }

    fn layout(&self, args: &CompareArgs) -> LayoutReport {
        let fixed = args.measures.fixed_layout;
        let share = |candidate| {
            let share = || measures::layout_share(&self.rounds, candidate);
            (!fixed).then(share).flatten()
        };
        let shares = (1..self.commands.len()).map(share).collect();
        LayoutReport { fixed, addresses: self.addresses.clone(), shares }
    }

    /// What a person reads below the answer.
    fn details(&self, tables: &[Vec<table::Row>], layout: &LayoutReport) -> Vec<String> {
        let names: Vec<&str> = self.commands.iter().map(|command| command.name.as_str()).collect();
        let mut lines = Vec::new();
        for (rows, name) in tables.iter().zip(&names[1..]).filter(|(rows, _)| !rows.is_empty()) {
            lines.push(String::new());
            lines.extend(table::lines(rows, [names[0], name]));
        }
        lines.extend(layout.lines(&names[1..]));
        lines.extend(self.counted.lines(&self.commands));
        lines
    }
}

/// Where any status is accepted: that a command did not end with the same one in all rounds.
fn varying_status(place: usize, name: &str, rounds: &[Round]) -> Option<String> {
    let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
    for round in rounds.iter().filter(|round| !round.runs[place].is_empty()) {
        *counts.entry(round.statuses[place]).or_default() += 1;
    }
    let (status, same) = counts.iter().max_by_key(|(_, count)| **count)?;
    let all: usize = counts.values().sum();
    let others = all - same;
    (others > 0)
        .then(|| format!("{name} did not end with status {status} in {others} of {all} rounds"))
}

pub(super) fn add(comparison: &mut Comparison, round: &Round) -> Result<(), Failure> {
    let (order, runs, elapsed_s) = round.timed();
    let added = comparison.add(order, runs, elapsed_s);
    // Rounds come from here or from a file, which may have been edited.
    added.map(|_| ()).map_err(|error| Failure::files(error.to_string()))
}

fn exit(state: &State, fail_on: Option<FailOn>) -> Exit {
    if fail_on == Some(FailOn::NotShownEquivalent) {
        let shown = |outcome| matches!(outcome, Outcome::Equivalent | Outcome::Faster);
        let all = state.candidates.iter().all(|candidate| shown(candidate.verdict.outcome));
        return if all { Exit::Success } else { Exit::Slower };
    }
    let slower = || state.candidates.iter().map(|candidate| candidate.slower_beyond_margin);
    if slower().any(|slower| slower == Some(true)) {
        Exit::Slower
    } else if slower().all(|slower| slower == Some(false)) {
        Exit::Success
    } else {
        Exit::Open
    }
}
