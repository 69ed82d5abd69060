//! The end of a comparison: what is printed, written, drawn and told to a CI system.

use std::collections::BTreeMap;

use lab_console::{Exit, Failure, plain, streams, write};
use lab_stats::outcome::Outcome;

use super::{
    annotate, between_builds,
    carry_over::CarryOver,
    export::{self, Measured},
    last_lines::LastLines,
    mean,
    measures::{self, LayoutReport},
    metric::Metric,
    noise::Noise,
    options::{FailOn, Format, Layouts},
    plot::Drawing,
    record::Round,
    runner::Runner,
    same_bytes::ABOUT,
    session::Session,
    spend, table,
    text::{Words, confidence, items, notes},
};
use crate::State;

/// Below this many microseconds a command is mostly its process's start and end.
const SHORT: f64 = 1_000.0;
/// The microseconds that several runs of such a command should take together.
const BATCH: f64 = 5_000.0;

impl Session<'_> {
    pub(super) fn finish(
        &self,
        runner: &Runner<'_>,
        attempt: Option<(u64, f64)>,
        exit: Option<Exit>,
    ) -> Result<Exit, Failure> {
        let (options, metrics) = (self.options, &runner.metrics);
        let settings = self.comparison.settings();
        let state = self.state();
        let exit = exit.unwrap_or_else(|| exit_of(&state, options.limits.fail_on));
        let layout = self.layout();
        let tables: Vec<Vec<table::MetricRow>> = (state.candidates.iter().enumerate())
            .map(|(number, candidate)| table::rows(candidate, number, metrics, &self.rounds))
            .collect();
        let means: Vec<Option<f64>> = (state.candidates.iter().enumerate())
            .map(|(number, candidate)| match candidate.endings {
                Some(_) => None,
                None => mean::ratio(&self.rounds, number),
            })
            .collect();
        let words = Words { metric: metrics[0], settings, means: &means };
        let carried = CarryOver::of(&self.rounds, &self.commands, settings);
        let noise = Noise::of(&self.comparison, &self.rounds);
        let late = self.late_notes(runner);
        let all_notes = &[&self.notes[..], &late].concat();
        late.iter().for_each(|note| streams::tell(format_args!("note: {note}")));
        // Above the answer, which is what a terminal shows last.
        let drawn = self.draw(runner, &state);
        let printed = if options.result.format == Format::Json {
            let (absent, counted) = (&self.absent, &self.counted);
            let measured = Measured {
                inner: options.runs.inner,
                layout: &layout,
                absent,
                counted,
                notes: all_notes,
            };
            let mut result =
                export::result(&state, &self.commands, settings, self.seed, exit, &measured);
            between_builds::add_to(&mut result, &self.commands, &self.rounds, settings);
            carried.add_to(&mut result);
            noise.add_to(&mut result);
            let same = 0..state.candidates.len();
            result["same_program"] = same.map(|number| self.same.is_first(number)).collect();
            result["mean_ratios"] = means.as_slice().into();
            self.add_sessions_to(&mut result);
            if let Some((attempt, _)) = attempt {
                result["attempt"] = attempt.into();
            }
            streams::print((plain::json(&result.to_string()) + "\n").as_bytes())
        } else {
            let mut lines = self.details(&tables, &layout);
            lines.extend(self.noise_line(&state));
            lines.extend(notes(&state, &self.commands, words));
            lines.extend(self.session_lines());
            lines.extend(between_builds::lines(&self.commands, &self.rounds, settings));
            lines.extend(carried.lines(&self.commands));
            lines.extend(attempt.map(|(attempt, alpha)| {
                format!("attempt {attempt}: error level {}", spend::percent(alpha))
            }));
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(self.last_lines(&state, metrics, words));
            streams::print((plain::lines(&lines.join("\n")) + "\n").as_bytes())
        };
        let runs = options.result.hyperfine_json.as_ref().map_or(Ok(()), |path| {
            let runs = export::hyperfine(&self.commands, metrics, &self.rounds);
            write(path, plain::json(&format!("{runs:#}\n")))
        });
        let page = options
            .result
            .markdown
            .as_ref()
            .map_or(Ok(()), |path| write(path, self.page(&state, metrics, &tables, words)));
        // What cannot be written keeps nothing else from being so.
        let page_text = self.page(&state, metrics, &tables, words);
        let annotated = self.annotate(&state, words, &page_text, all_notes);
        printed.and(runs).and(page).and(drawn).and(annotated)?;
        Ok(exit)
    }

    /// What the timed runs have shown of the commands, beside their times.
    fn late_notes(&self, runner: &Runner<'_>) -> Vec<String> {
        let mut notes: Vec<String> = (self.commands.iter().enumerate())
            .filter_map(|(place, command)| varying_status(place, &command.name, &self.rounds))
            .collect();
        let times = export::column(&runner.metrics, &self.rounds, 0, Metric::Wall);
        let median = lab_stats::describe::median(&times).filter(|median| *median < SHORT);
        if let Some(median) = median.filter(|_| self.options.runs.inner == 1) {
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
    fn page(
        &self,
        state: &State,
        metrics: &[Metric],
        tables: &[Vec<table::MetricRow>],
        words: Words<'_>,
    ) -> String {
        let level = confidence(words.settings);
        let page = export::markdown(state, &self.commands, metrics, &self.rounds, tables, &level);
        let items = [items(state, &self.commands, words), self.session_lines()].concat();
        let same = self.commands[1..].iter().enumerate().filter_map(|(number, command)| {
            let name = plain::code(&command.name);
            self.same.is_first(number).then(|| format!("{name}: {ABOUT}"))
        });
        let noise = self.noise_line(state);
        let items: String =
            items.into_iter().chain(same).chain(noise).map(|item| format!("- {item}\n")).collect();
        format!("{page}\n{items}")
    }

    /// Where all verdicts are withheld for how runs ended, nothing is said of pairs.
    fn noise_line(&self, state: &State) -> Option<String> {
        let is_forbidden = state.candidates.iter().all(|found| found.endings.is_some());
        let line = || Noise::of(&self.comparison, &self.rounds).line();
        if is_forbidden { None } else { line() }
    }

    fn layout(&self) -> LayoutReport {
        let fixed = self.options.runs.layouts == Layouts::Fixed;
        let share = |candidate| {
            let share = || measures::layout_share(&self.rounds, candidate);
            (!fixed).then(share).flatten()
        };
        let shares = (1..self.commands.len()).map(share).collect();
        LayoutReport { fixed, addresses: self.addresses.clone(), shares }
    }

    fn last_lines(&self, state: &State, metrics: &[Metric], words: Words<'_>) -> Vec<String> {
        let (commands, rounds, same) = (&self.commands, &self.rounds, &self.same);
        LastLines { state, commands, metrics, rounds, words, same }.lines()
    }

    /// What a person reads above the answer: of one candidate all metrics that tell something; the
    /// answer has a row for each of several.
    fn details(&self, tables: &[Vec<table::MetricRow>], layout: &LayoutReport) -> Vec<String> {
        let names: Vec<&str> = self.commands.iter().map(|command| command.name.as_str()).collect();
        let level = confidence(self.comparison.settings());
        let mut lines = match tables {
            [rows] if !rows.is_empty() => table::lines(rows, [names[0], names[1]], &level),
            _ => Vec::new(),
        };
        lines.extend(layout.lines(&names[1..]));
        lines.extend(self.counted.lines(&self.commands));
        lines
    }

    /// The picture.
    fn draw(&self, runner: &Runner<'_>, state: &State) -> Result<(), Failure> {
        let Some(plot) = &self.options.result.plot else { return Ok(()) };
        let labels: Vec<&str> = runner.metrics.iter().map(|metric| metric.label()).collect();
        let settings = self.comparison.settings();
        let (commands, rounds) = (&self.commands, &self.rounds);
        let drawing = Drawing { commands, settings, metrics: &labels, rounds, state };
        let lines = drawing.draw(plot)?;
        // --json has the standard output for itself.
        if self.options.result.format == Format::Json {
            lines.iter().for_each(streams::tell);
            return Ok(());
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        streams::print(text.as_bytes())
    }

    /// What a CI system shows.
    fn annotate(
        &self,
        state: &State,
        words: Words<'_>,
        page: &str,
        notes: &[String],
    ) -> Result<(), Failure> {
        let options = self.options;
        if !options.result.annotations {
            return Ok(());
        }
        let lines = annotate::lines(state, &self.commands, words, options.limits.fail_on);
        lines.iter().for_each(streams::tell_ci);
        if options.result.markdown.is_none() {
            let notes: String =
                notes.iter().map(|note| format!("\n{}\n", plain::markdown(note))).collect();
            annotate::append(annotate::SUMMARY, &format!("{page}{notes}\n"))?;
        }
        let verdicts = self.verdicts().unwrap_or_default();
        annotate::append(annotate::OUTPUT, &annotate::output(&verdicts))
    }

    /// In words, one for each candidate; `None` where nothing was measured.
    pub(super) fn verdicts(&self) -> Option<Vec<String>> {
        let state = self.state();
        let words = state.candidates.iter().map(|candidate| candidate.verdict.to_string());
        (state.rounds > 0).then(|| words.collect())
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

fn exit_of(state: &State, fail_on: Option<FailOn>) -> Exit {
    if fail_on == Some(FailOn::NotShownEquivalent) {
        let shown = |outcome| matches!(outcome, Outcome::Equivalent | Outcome::Faster);
        let all = state.candidates.iter().all(|candidate| shown(candidate.verdict.outcome));
        return if all { Exit::Success } else { Exit::Slower };
    }
    let fails = || {
        state.candidates.iter().map(|candidate| match fail_on {
            Some(FailOn::Tail) => candidate.more_slow_runs,
            _ => candidate.slower_beyond_margin,
        })
    };
    if fails().any(|fails| fails == Some(true)) {
        Exit::Slower
    } else if fails().all(|fails| fails == Some(false)) {
        Exit::Success
    } else {
        Exit::Open
    }
}
