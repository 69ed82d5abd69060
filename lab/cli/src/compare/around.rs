//! Options of what surrounds a comparison: many attempts in a row, pictures, CI.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lab_compare::State;

use super::{Session, annotate, plot::Drawing, run::Runner, table::Row};
use crate::{Failure, plain, streams};

#[derive(Args, Debug)]
pub(crate) struct AroundArgs {
    /// Count this comparison as one of many attempts, which share the error level of this file
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) spend: Option<PathBuf>,
    /// Draw the comparison: a file that ends in .svg or .png, or - for the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print workflow commands for the verdicts. Default: where GITHUB_ACTIONS is `true`
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(crate) annotate: Option<Annotate>,
}

/// Whose workflow commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Annotate {
    /// GitHub Actions; the table goes to the job's summary too
    Github,
    /// None
    Never,
}

impl Session {
    /// The picture.
    pub(super) fn draw(&self, runner: &Runner<'_>, state: &State) -> Result<(), Failure> {
        let (args, metrics) = (runner.args, &runner.metrics);
        let Some(path) = &args.around.plot else { return Ok(()) };
        let labels: Vec<&str> = metrics.iter().map(|metric| metric.label()).collect();
        let settings = self.comparison.settings();
        let (commands, rounds) = (&self.commands, &self.rounds);
        let drawing = Drawing { commands, settings, metrics: &labels, rounds, state };
        let lines = drawing.draw(path)?;
        // --json has the standard output for itself.
        if args.json {
            lines.iter().for_each(streams::tell);
            return Ok(());
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        streams::print(text.as_bytes())
    }

    /// What a CI system shows.
    pub(super) fn annotate(
        &self,
        runner: &Runner<'_>,
        state: &State,
        tables: &[Vec<Row>],
        notes: &[String],
    ) -> Result<(), Failure> {
        let (args, metrics) = (runner.args, &runner.metrics);
        if !annotate::is_wanted(&args.around) {
            return Ok(());
        }
        let lines = annotate::lines(state, &self.commands, metrics[0], args.fail_on);
        lines.iter().for_each(streams::tell_ci);
        if args.export_markdown.is_none() {
            let page = self.page(state, metrics, tables);
            let notes: String =
                notes.iter().map(|note| format!("\n{}\n", plain::markdown(note))).collect();
            annotate::append(annotate::SUMMARY, &format!("{page}{notes}\n"))?;
        }
        let verdicts = self.verdicts().unwrap_or_default();
        annotate::append(annotate::OUTPUT, &annotate::output(&verdicts))
    }

    /// In words, one for each candidate; `None` where nothing was measured.
    pub(super) fn verdicts(&self) -> Option<Vec<String>> {
        let state = self.comparison.state();
        let words = state.candidates.iter().map(|candidate| candidate.verdict.to_string());
        (state.rounds > 0).then(|| words.collect())
    }
}
