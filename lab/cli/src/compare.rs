//! `lab compare`: which of some commands is faster, anywhere and without a repository.

mod groups;
mod hyperfine;

use std::{path::PathBuf, time::Duration};

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use lab_compare::run::{
    self, Check, Counts, Destination, FailOn, Format, Layouts, Limits, Metric, OnFailure, Options,
    Order, Plot, ResultOptions, Revisions, RoundFile, RunOptions, Shell, tell_failure,
    values_of_list, values_of_range,
};
use lab_console::{Exit, Failure, exit_codes};

use self::{
    groups::{AnswerArgs, AroundArgs, BuildArgs, MeasureArgs},
    hyperfine::Refused,
};

/// Commands to compare and how; options that hyperfine has are named as there.
#[derive(Args, Debug)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct CompareArgs {
    /// Commands; the first is the reference
    #[arg(value_name = "COMMAND", required = true)]
    commands: Vec<String>,
    /// Git revision to compare, at least two, or `.` for the work tree; COMMAND is then one program
    /// of a build and its arguments
    #[arg(long, value_name = "REV", requires = "build")]
    rev: Vec<String>,
    /// Command that builds a revision, in a copy of its files
    #[arg(long, value_name = "CMD", requires = "rev")]
    #[arg(conflicts_with_all = ["parameter_list", "parameter_scan"])]
    build: Option<String>,
    #[command(flatten)]
    builds: BuildArgs,
    /// First command, before all others
    #[arg(long, value_name = "CMD", conflicts_with = "rev")]
    reference: Option<String>,
    /// Its name
    #[arg(long, value_name = "NAME", requires = "reference")]
    reference_name: Option<String>,
    /// Name of a command, in their order, with values for each {VAR} in it; or of each that
    /// parameters make of them
    #[arg(short = 'n', long, value_name = "NAME")]
    command_name: Vec<String>,
    /// Command to run once before the first run, for each value of a {VAR} in it
    #[arg(short, long, value_name = "CMD")]
    setup: Option<String>,
    /// Wait after --setup, or without it after each --prepare, until this command ends with status
    /// 0 or this port accepts a connection; 30 s at most, or --timeout
    #[arg(long, value_name = "CMD|PORT")]
    ready: Vec<String>,
    /// Command to run before each run, untimed; one for all commands or one each
    #[arg(short, long, value_name = "CMD")]
    prepare: Vec<String>,
    /// Command to run after each run, untimed; one for all commands or one each
    #[arg(short = 'C', long, value_name = "CMD")]
    conclude: Vec<String>,
    /// Command to run once after the last run, for each value of a {VAR} in it
    #[arg(short, long, value_name = "CMD")]
    cleanup: Option<String>,
    /// Put each of the values, with commas between them, for {VAR} in commands, --prepare and
    /// --conclude; `\,` is a comma of a value
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"])]
    parameter_list: Vec<String>,
    /// Put each number of a range for {VAR} in commands, --prepare and --conclude
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"])]
    #[arg(allow_negative_numbers = true)]
    parameter_scan: Vec<String>,
    /// Step of --parameter-scan
    #[arg(short = 'D', long, value_name = "DELTA", default_value_t = 1.0)]
    #[arg(requires = "parameter_scan")]
    parameter_step_size: f64,
    /// Shell that runs the commands, or `none`. Default: `sh`, and none for a command that needs
    /// none
    #[arg(short = 'S', long, value_name = "SHELL", conflicts_with = "no_shell")]
    shell: Option<String>,
    /// Never use a shell; as --shell none
    #[arg(short = 'N', long)]
    no_shell: bool,
    /// File that each run reads from standard input, or `null`, which is the default
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Where the output of timed runs goes: null, kept (a file in memory), pipe, inherit or a file;
    /// one for all commands or one each. Default: kept where --check looks at each run's, else null
    #[arg(long, value_name = "WHERE")]
    output: Vec<Destination>,
    /// Accept these exit statuses, with commas between them; any without a value
    #[arg(short, long, value_name = "STATUSES", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all-non-zero")]
    ignore_failure: Option<OnFailure>,
    /// Rounds to run before the first that counts
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    warmup: usize,
    /// Rounds at most
    #[arg(short, long, value_name = "N", visible_short_alias = 'M', visible_alias = "max-runs")]
    runs: Option<usize>,
    /// Seconds beyond which nothing is measured. Default: 60, or as long as the fewest rounds for
    /// an answer take
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// Difference in per cent that is too small to matter
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    margin: f64,
    #[command(flatten)]
    answer: AnswerArgs,
    /// What the verdict is about
    #[arg(long, value_parser = metrics(), default_value = "wall")]
    metric: Metric,
    /// Seed of the random orders. Default: another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Check answers: same-output, of each run, for which standard output is a file of 64 MiB at
    /// most; once, before timing alone; status; or a command that reads an output before timing
    #[arg(long, value_name = "HOW", default_value = "same-output")]
    check: Check,
    /// Compare the first command with a copy of its program too, in rounds of their own
    #[arg(long)]
    control: bool,
    /// The default, so that calls of before go on
    #[arg(long, hide = true, overrides_with = "control")]
    no_control: bool,
    /// File that commands use: --control copies it, and commands that share files with some others
    /// alone are compared in rounds of their own
    #[arg(long, value_name = "FILE")]
    data: Vec<PathBuf>,
    /// In which order commands run: `turns`, each once a round, or `blocks:N`, each N times in a
    /// row, of which the first does not count
    #[arg(long, value_name = "HOW", default_value = "turns")]
    order: Order,
    /// Seconds after which a run has failed, and its --prepare and its --check too
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Write the runs as hyperfine's JSON
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,
    /// Write a table in Markdown
    #[arg(long, value_name = "FILE")]
    export_markdown: Option<PathBuf>,
    /// Append each round to a new file, from which --resume goes on
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    record: Option<PathBuf>,
    /// Go on with the rounds of a file that --record wrote for the same commands
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    around: AroundArgs,
    #[command(flatten)]
    measures: MeasureArgs,
    #[command(flatten)]
    refused: Refused,
}

const CODES: [(Exit, &str); 7] = [
    (Exit::Success, "no command is slower than the first by more than the margin"),
    (Exit::Slower, "one is, or --fail-on finds what it looks for"),
    (Exit::Open, "that cannot be told"),
    (Exit::Failed, "a command failed, hung or gave another answer"),
    (Exit::Input, "the command line is wrong, or a command cannot be started"),
    (Exit::File, "a file cannot be read or written"),
    (Exit::Interrupted, "interrupted; what was measured is printed"),
];

/// The names of what can be compared.
pub(crate) fn metrics() -> impl TypedValueParser<Value = Metric> {
    let names = Metric::ALL.map(|metric| {
        let (name, help) = metric.name();
        PossibleValue::new(name).help(help)
    });
    let named = |name: String| {
        let found = Metric::ALL.into_iter().find(|metric| metric.name().0 == name);
        found.expect("clap lets these names alone through")
    };
    PossibleValuesParser::new(names).map(named)
}

/// Compares the commands and prints what may be said of them.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let ended = args.options().and_then(|options| run::compare(&options));
    ended.inspect_err(|failure| {
        // What the user stopped has not failed.
        if failure.exit != Exit::Interrupted && args.around.is_annotated() {
            tell_failure(&failure.sentence);
        }
    })
}

impl CompareArgs {
    fn options(&self) -> Result<Options, Failure> {
        self.refused.check()?;
        check_times(&[("--budget", self.budget), ("--timeout", self.timeout)])?;
        if self.runs == Some(0) {
            return Err(Failure::input("--runs is 0; give at least one round, or leave it out"));
        }
        Ok(Options {
            commands: self.reference.iter().chain(&self.commands).cloned().collect(),
            revisions: self.revisions(),
            names: self.names(),
            parameters: self.parameters()?,
            control: self.control,
            runs: self.run_options(),
            metric: self.metric,
            seed: self.seed,
            limits: self.limits()?,
            attempts: self.around.spend.clone(),
            rounds: match (&self.record, &self.resume) {
                (Some(path), _) => RoundFile::New(path.clone()),
                (None, Some(path)) => RoundFile::Resumed(path.clone()),
                (None, None) => RoundFile::None,
            },
            counts: Counts {
                instructions: self.measures.count,
                system_calls: self.measures.syscalls,
            },
            result: ResultOptions {
                format: format(self.json),
                hyperfine_json: self.export_json.clone(),
                markdown: self.export_markdown.clone(),
                plot: self.around.plot.clone().map(Plot::named).transpose()?,
                annotations: self.around.is_annotated(),
            },
        })
    }

    fn limits(&self) -> Result<Limits, Failure> {
        let AnswerArgs { tail, confidence, fail_on, .. } = self.answer;
        let stop = self.answer.stop()?;
        Ok(Limits {
            budget_s: self.budget,
            most_rounds: self.runs,
            margin: self.margin / 100.0,
            tail: tail / 100.0,
            // As the default's is: 1 - 0.99 is no 0.01.
            alpha: (100.0 - confidence) / 100.0,
            stop,
            fail_on: fail_on.map(FailOn::from),
        })
    }

    /// The reference has a name of its own, which is its text where others have names.
    fn names(&self) -> Vec<String> {
        let is_named = self.reference_name.is_some() || !self.command_name.is_empty();
        let reference = self.reference_name.as_ref().or(self.reference.as_ref());
        let first = reference.filter(|_| is_named);
        first.into_iter().chain(&self.command_name).cloned().collect()
    }

    fn revisions(&self) -> Option<Revisions> {
        (!self.rev.is_empty()).then(|| Revisions {
            names: self.rev.clone(),
            build: self.build.clone().unwrap_or_default(),
            builds: self.builds.builds.unwrap_or(1),
            rebuild: self.builds.rebuild,
        })
    }

    fn run_options(&self) -> RunOptions {
        let named = self.shell.as_deref().map_or(Shell::WhereNeeded, Shell::named);
        RunOptions {
            setup: self.setup.clone(),
            ready: self.ready.clone(),
            prepare: self.prepare.clone(),
            conclude: self.conclude.clone(),
            cleanup: self.cleanup.clone(),
            shell: if self.no_shell { Shell::Never } else { named },
            input: input(self.input.as_ref()),
            outputs: outputs(&self.output, &self.check),
            check: self.check.clone(),
            failure: self.ignore_failure.clone().unwrap_or(OnFailure::End),
            data: self.data.clone(),
            warmup: self.warmup,
            sessions: self.measures.sessions.unwrap_or(1),
            timeout: self.timeout.map(Duration::from_secs_f64),
            order: self.order,
            inner: self.measures.inner,
            duet: self.measures.duet,
            layouts: match self.measures.fixed_layout {
                true => Layouts::Fixed,
                false => Layouts::Varied,
            },
        }
    }

    /// Names and values, the lists first.
    fn parameters(&self) -> Result<Vec<(String, Vec<String>)>, Failure> {
        let lists = self.parameter_list.chunks_exact(2);
        let mut all: Vec<_> =
            lists.map(|list| (list[0].clone(), values_of_list(&list[1]))).collect();
        for scan in self.parameter_scan.chunks_exact(3) {
            let values = values_of_range([&scan[1], &scan[2]], self.parameter_step_size)?;
            all.push((scan[0].clone(), values));
        }
        Ok(all)
    }
}

/// Refuses times that are none.
pub(crate) fn check_times(times: &[(&str, Option<f64>)]) -> Result<(), Failure> {
    let is_none = |time: Option<f64>| time.is_some_and(|time| !(time > 0.0 && time < 1e9));
    match times.iter().find(|(_, time)| is_none(*time)) {
        Some((option, _)) => {
            Err(Failure::input(format!("{option} is no number of seconds above 0")))
        }
        None => Ok(()),
    }
}

/// What each run reads; a file of the name `null` is `./null`, as with hyperfine.
pub(crate) fn input(given: Option<&PathBuf>) -> Option<PathBuf> {
    given.filter(|path| path.as_os_str() != "null").cloned()
}

pub(crate) fn outputs(given: &[Destination], check: &Check) -> Vec<Destination> {
    if given.is_empty() { vec![Destination::for_check(check)] } else { given.to_vec() }
}

pub(crate) fn format(json: bool) -> Format {
    if json { Format::Json } else { Format::Text }
}
