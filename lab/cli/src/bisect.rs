//! `lab bisect`: which commit made a program slower.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use lab_compare::run::{
    self, BisectOptions, Check, Destination, Layouts, Metric, OnFailure, Order, RunOptions, Shell,
};
use lab_console::{Exit, Failure, exit_codes};

use crate::compare::{check_times, format, input, metrics, outputs};

/// Two revisions, how to build them and what to run
#[derive(Args, Debug)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct BisectArgs {
    /// Revision from before the slowdown
    #[arg(long, value_name = "REV")]
    good: String,
    /// Revision with the slowdown; the commits from good to it are searched along first parents
    #[arg(long, value_name = "REV")]
    bad: String,
    /// Command that builds a revision, in a copy of its files
    #[arg(long, value_name = "CMD")]
    build: String,
    /// Program of a build, by its path there, and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<String>,
    /// Search for the commit that made it faster
    #[arg(long)]
    faster: bool,
    /// Seconds to spend at most on each comparison, or its fewest rounds where these take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    budget: f64,
    /// Build again what an earlier comparison built
    #[arg(long)]
    rebuild: bool,
    /// What the search is about
    #[arg(long, value_parser = metrics(), default_value = "wall")]
    metric: Metric,
    /// Seed of the random orders. Default: another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    runs: RunArgs,
}

/// How each run is made, as `lab compare` has it.
#[derive(Args, Debug)]
struct RunArgs {
    /// Command to run once before the first run
    #[arg(short, long, value_name = "CMD")]
    setup: Option<String>,
    /// Command to run before each run, untimed
    #[arg(short, long, value_name = "CMD")]
    prepare: Option<String>,
    /// Command to run after each run, untimed
    #[arg(short = 'C', long, value_name = "CMD")]
    conclude: Option<String>,
    /// Command to run once after the last run
    #[arg(short, long, value_name = "CMD")]
    cleanup: Option<String>,
    /// Shell of --build, --setup, --prepare, --conclude and --cleanup
    #[arg(short = 'S', long, value_name = "SHELL", default_value = "sh")]
    shell: String,
    /// File that each run reads from standard input
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Where the output of timed runs goes: null, kept (a file in memory), pipe, inherit or a file.
    /// Default: kept where --check looks at each run's, else null
    #[arg(long, value_name = "WHERE")]
    output: Option<Destination>,
    /// Accept these exit statuses, with commas between them; any without a value
    #[arg(short, long, value_name = "STATUSES", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all-non-zero")]
    ignore_failure: Option<OnFailure>,
    /// Rounds to run in each comparison before the first that counts
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    warmup: usize,
    /// Check answers: same-output, of each run, for which standard output is a file of 64 MiB at
    /// most; once, before timing alone; status; or a command that reads an output before timing
    #[arg(long, value_name = "HOW", default_value = "same-output")]
    check: Check,
    /// Seconds after which a run has failed, and its --prepare and its --check too
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
}

const CODES: [(Exit, &str); 6] = [
    (Exit::Success, "the commit was found"),
    (Exit::Open, "it cannot be told; the range that is left is printed"),
    (Exit::Failed, "good or bad does not build, or a command failed, hung or gave another answer"),
    (Exit::Input, "the command line is wrong, or a command cannot be started"),
    (Exit::File, "a file cannot be read or written"),
    (Exit::Interrupted, "interrupted; the range that is left is printed"),
];

/// Searches for the commit and prints it.
pub(crate) fn bisect(args: &BisectArgs) -> Result<Exit, Failure> {
    check_times(&[("--budget", Some(args.budget)), ("--timeout", args.runs.timeout)])?;
    run::bisect(&args.options())
}

impl BisectArgs {
    fn options(&self) -> BisectOptions {
        BisectOptions {
            good: self.good.clone(),
            bad: self.bad.clone(),
            build: self.build.clone(),
            build_shell: self.runs.shell.clone(),
            command: self.command.clone(),
            faster: self.faster,
            budget_s: self.budget,
            rebuild: self.rebuild,
            metric: self.metric,
            seed: self.seed,
            format: format(self.json),
            runs: self.runs.options(),
        }
    }
}

impl RunArgs {
    /// What `lab compare` has besides is as it is there unasked.
    fn options(&self) -> RunOptions {
        RunOptions {
            setup: self.setup.clone(),
            ready: Vec::new(),
            prepare: self.prepare.iter().cloned().collect(),
            conclude: self.conclude.iter().cloned().collect(),
            cleanup: self.cleanup.clone(),
            shell: Shell::named(&self.shell),
            input: input(self.input.as_ref()),
            outputs: outputs(self.output.as_slice(), &self.check),
            check: self.check.clone(),
            failure: self.ignore_failure.clone().unwrap_or(OnFailure::End),
            data: Vec::new(),
            warmup: self.warmup,
            sessions: 1,
            timeout: self.timeout.map(Duration::from_secs_f64),
            order: Order::Turns,
            inner: 1,
            duet: false,
            layouts: Layouts::Varied,
        }
    }
}
