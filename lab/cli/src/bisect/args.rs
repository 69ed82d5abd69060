//! The arguments of `lab bisect`.

use std::path::PathBuf;

use clap::{Args, Parser};
use lab_console::exit_codes;

use crate::{
    Exit,
    compare::{Check, CompareArgs, Metric, To},
};

/// Two revisions, how to build them and what to run
#[derive(Args, Debug)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct BisectArgs {
    /// Revision from before the slowdown
    #[arg(long, value_name = "REV")]
    pub(crate) good: String,
    /// Revision with the slowdown; the commits from good to it are searched along first parents
    #[arg(long, value_name = "REV")]
    pub(crate) bad: String,
    /// Command that builds a revision, in a copy of its files
    #[arg(long, value_name = "CMD")]
    pub(crate) build: String,
    /// Program of a build, by its path there, and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub(crate) command: Vec<String>,
    /// Search for the commit that made it faster
    #[arg(long)]
    pub(crate) faster: bool,
    /// Seconds to spend at most on each comparison, or 25 rounds where these take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) budget: f64,
    /// Build again what an earlier comparison built
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// What the search is about
    #[arg(long, value_enum, default_value_t = Metric::Wall)]
    pub(crate) metric: Metric,
    /// Seed of the random orders. Default: another one each time
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
}

/// How each run is made, as `lab compare` has it.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Command to run once before the first run
    #[arg(short, long, value_name = "CMD")]
    setup: Option<String>,
    /// Command to run before each run, untimed
    #[arg(short, long, value_name = "CMD")]
    prepare: Option<String>,
    /// Command to run once after the last run
    #[arg(short, long, value_name = "CMD")]
    cleanup: Option<String>,
    /// Shell of --build, --setup, --prepare and --cleanup
    #[arg(short = 'S', long, value_name = "SHELL", default_value = "sh")]
    pub(crate) shell: String,
    /// File that each run reads from standard input
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Where the output of timed runs goes: null, kept (a file in memory), pipe, inherit or a file.
    /// Default: kept where --check looks at each run's, else null
    #[arg(long, value_name = "WHERE")]
    output: Option<To>,
    /// Accept any exit status
    #[arg(short, long)]
    ignore_failure: bool,
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

/// `lab compare` as its own command line.
#[derive(Parser)]
struct Compare {
    #[command(flatten)]
    args: CompareArgs,
}

impl BisectArgs {
    /// The options of every comparison.
    pub(crate) fn comparison(&self) -> CompareArgs {
        // Parsed, so that every other option has the default that it has there.
        let words = ["compare", "--"].map(str::to_owned);
        let words = words.into_iter().chain(self.command.iter().cloned());
        let args = Compare::parse_from(words).args;
        let runs = &self.runs;
        CompareArgs {
            setup: runs.setup.clone(),
            prepare: runs.prepare.iter().cloned().collect(),
            cleanup: runs.cleanup.clone(),
            shell: Some(runs.shell.clone()),
            input: runs.input.clone(),
            output: runs.output.clone(),
            ignore_failure: runs.ignore_failure,
            warmup: runs.warmup,
            check: runs.check.clone(),
            timeout: runs.timeout,
            budget: self.budget,
            metric: self.metric,
            json: self.json,
            ..args
        }
    }
}
