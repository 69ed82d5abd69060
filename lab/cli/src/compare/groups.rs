//! The options of `lab compare` in groups: when there is an answer, how revisions are built, what
//! surrounds a comparison, and how runs are measured.

use std::{env, path::PathBuf};

use clap::{Args, ValueEnum};
use lab_compare::run::{FailOn, Stop};
use lab_console::Failure;

/// When there is an answer.
#[derive(Args, Debug)]
pub(super) struct AnswerArgs {
    /// Slow runs, in points of all, that are too few to matter; slow is above 1.25 medians of the
    /// first command
    #[arg(long, value_name = "POINTS", default_value_t = 5.0)]
    pub(super) tail: f64,
    /// Confidence in per cent, over all looks and commands together
    #[arg(long, value_name = "PERCENT", default_value_t = 99.0, conflicts_with = "spend")]
    pub(super) confidence: f64,
    /// Stop with the direction, or with the size: beyond or within the margin, or known to a
    /// quarter of itself or to the margin
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = StopArg::Size)]
    #[arg(conflicts_with = "fail_on")]
    pub(super) stop: StopArg,
    /// Stop where the difference is known to ±PERCENT, and not before
    #[arg(long, value_name = "PERCENT", conflicts_with = "fail_on")]
    pub(super) precision: Option<f64>,
    /// Go on until this is known, and exit with 10 where it is so
    #[arg(long, value_enum)]
    pub(super) fail_on: Option<FailOnArg>,
}

/// When a comparison has its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StopArg {
    /// Faster, slower or equivalent
    Direction,
    /// That, and by how much
    Size,
}

/// How revisions are built.
#[derive(Args, Debug)]
pub(super) struct BuildArgs {
    /// Build each revision K times, with LAB_BUILD from 0 to K-1 and a seed in LAB_BUILD_SEED; each
    /// round runs one of the K
    #[arg(long, value_name = "K", requires = "build")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) builds: Option<u16>,
    /// Build again what an earlier comparison built
    #[arg(long, requires = "build")]
    pub(super) rebuild: bool,
}

/// What surrounds a comparison.
#[derive(Args, Debug)]
pub(super) struct AroundArgs {
    /// Count this comparison as one of many attempts, which share the error level of this file
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(super) spend: Option<PathBuf>,
    /// Draw the comparison: a file that ends in .svg or .png, or - for the terminal
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,
    /// Print workflow commands for the verdicts. Default: where GITHUB_ACTIONS is `true`
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(super) annotate: Option<Annotate>,
}

/// Whose workflow commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Annotate {
    /// GitHub Actions; the table goes to the job's summary too
    Github,
    /// None
    Never,
}

/// Options about measuring.
#[derive(Args, Debug)]
#[command(next_help_heading = "Measuring")]
pub(super) struct MeasureArgs {
    /// Run the command N times within each timed run, for commands below 1 ms; values are of one
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) inner: u32,
    /// Run both commands of a pair at once, each on a half of the processors
    #[arg(long, conflicts_with_all = ["inner", "order"])]
    pub(super) duet: bool,
    /// Run the rounds in N sessions, 2 to 64, each from new copies of programs and --data; from 6
    /// on the verdict is about sessions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    pub(super) sessions: Option<u16>,
    /// The same layout in all rounds: environment, $PWD, and addresses without randomisation
    #[arg(long)]
    pub(super) fixed_layout: bool,
    /// Count instructions with valgrind after the timed runs, three runs of each command
    #[arg(long)]
    pub(super) count: bool,
    /// Count system calls with strace, or perf, after the timed runs, one run of each command
    #[arg(long)]
    pub(super) syscalls: bool,
}

/// What a gate refuses.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FailOnArg {
    /// A command slower than the first by more than the margin
    Slower,
    /// A command not shown to be equivalent or faster
    NotShownEquivalent,
    /// A command with more slow runs than the first, by --tail
    Tail,
}

impl AnswerArgs {
    /// When it stops, where all of these are what they may be.
    pub(super) fn stop(&self) -> Result<Stop, Failure> {
        let Self { tail, confidence, stop, precision, .. } = *self;
        if !(50.0..100.0).contains(&confidence) {
            let sentence =
                format!("--confidence is {confidence}; give per cent from 50 to below 100, as 99");
            return Err(Failure::input(sentence));
        }
        if !(tail > 0.0 && tail < 100.0) {
            let sentence = format!("--tail is {tail}; give points above 0 and below 100, as 5");
            return Err(Failure::input(sentence));
        }
        if precision.is_some_and(|precision| !(precision > 0.0 && precision < 1e6)) {
            let given = precision.unwrap_or_default();
            let sentence = format!("--precision is {given}; give per cent above 0, as 0.5");
            return Err(Failure::input(sentence));
        }
        match (stop, precision) {
            (StopArg::Direction, Some(_)) => {
                Err(Failure::input("--precision is about the size; leave --stop direction out"))
            }
            (StopArg::Direction, None) => Ok(Stop::Direction),
            (StopArg::Size, precision) => Ok(Stop::Size(precision.map(|percent| percent / 100.0))),
        }
    }
}

impl From<FailOnArg> for FailOn {
    fn from(asked: FailOnArg) -> Self {
        match asked {
            FailOnArg::Slower => Self::Slower,
            FailOnArg::NotShownEquivalent => Self::NotShownEquivalent,
            FailOnArg::Tail => Self::Tail,
        }
    }
}

impl AroundArgs {
    /// Whether a CI system is told of the verdicts.
    pub(super) fn is_annotated(&self) -> bool {
        match self.annotate {
            Some(annotate) => annotate == Annotate::Github,
            None => env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
        }
    }
}
