//! The arguments of `lab compare`.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, ValueEnum};
use lab_console::exit_codes;

use super::{
    answers::{Check, To},
    around::AroundArgs,
    measures::MeasureArgs,
};
use crate::{Exit, builds::BuildArgs};

/// Commands to compare and how; options that hyperfine has are named as there.
#[derive(Args, Debug)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct CompareArgs {
    /// Commands; the first is the reference
    #[arg(value_name = "COMMAND", required_unless_present = "self_test")]
    pub(crate) commands: Vec<String>,
    /// Git revision to compare, at least two, or `.` for the work tree; COMMAND is then one program
    /// of a build and its arguments
    #[arg(long, value_name = "REV", requires = "build")]
    pub(crate) rev: Vec<String>,
    /// Command that builds a revision, in a copy of its files
    #[arg(long, value_name = "CMD", requires = "rev")]
    #[arg(conflicts_with_all = ["parameter_list", "parameter_scan"])]
    pub(crate) build: Option<String>,
    #[command(flatten)]
    pub(crate) builds: BuildArgs,
    /// Name of a command, in their order
    #[arg(short = 'n', long, value_name = "NAME")]
    pub(crate) command_name: Vec<String>,
    /// Command to run once before the first run, for each value of a {VAR} in it
    #[arg(short, long, value_name = "CMD")]
    pub(crate) setup: Option<String>,
    /// Command to run before each run, untimed; one for all commands or one each
    #[arg(short, long, value_name = "CMD")]
    pub(crate) prepare: Vec<String>,
    /// Command to run once after the last run, for each value of a {VAR} in it
    #[arg(short, long, value_name = "CMD")]
    pub(crate) cleanup: Option<String>,
    /// Put each of the values, with commas between them, for {VAR} in commands and --prepare; `\,`
    /// is a comma of a value
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"])]
    pub(crate) parameter_list: Vec<String>,
    /// Put each number of a range for {VAR} in commands and --prepare
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"])]
    #[arg(allow_negative_numbers = true)]
    pub(crate) parameter_scan: Vec<String>,
    /// Step of --parameter-scan
    #[arg(short = 'D', long, value_name = "DELTA", default_value_t = 1.0)]
    #[arg(requires = "parameter_scan")]
    pub(crate) parameter_step_size: f64,
    /// Shell that runs the commands, or `none`. Default: `sh`, and none for a command that needs
    /// none
    #[arg(short = 'S', long, value_name = "SHELL", conflicts_with = "no_shell")]
    pub(crate) shell: Option<String>,
    /// Never use a shell; as --shell none
    #[arg(short = 'N', long)]
    pub(crate) no_shell: bool,
    /// File that each run reads from standard input, or `null`, which is the default
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Where the output of timed runs goes: null, kept (a file in memory), pipe, inherit or a file.
    /// Default: kept where --check looks at each run's, else null
    #[arg(long, value_name = "WHERE")]
    pub(crate) output: Option<To>,
    /// Accept any exit status
    #[arg(short, long)]
    pub(crate) ignore_failure: bool,
    /// Rounds to run before the first that counts
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) warmup: usize,
    /// Rounds at most
    #[arg(short, long, value_name = "N", visible_short_alias = 'M', visible_alias = "max-runs")]
    pub(crate) runs: Option<usize>,
    /// Seconds to spend at most, or 25 rounds where these take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) budget: f64,
    /// Difference in per cent that is too small to matter
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub(crate) margin: f64,
    /// What the verdict is about
    #[arg(long, value_enum, default_value_t = Metric::Wall)]
    pub(crate) metric: Metric,
    /// Seed of the random orders. Default: another one each time
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Check answers: same-output, of each run, for which standard output is a file of 64 MiB at
    /// most; once, before timing alone; status; or a command that reads an output before timing
    #[arg(long, value_name = "HOW", default_value = "same-output")]
    pub(crate) check: Check,
    /// Compare the first command with a copy of its program too, in rounds of their own
    #[arg(long)]
    pub(crate) control: bool,
    /// The default, so that calls of before go on
    #[arg(long, hide = true, overrides_with = "control")]
    pub(crate) no_control: bool,
    /// File that commands use: --control copies it, and commands that share files with some others
    /// alone are compared in rounds of their own
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// In which order commands run: `turns`, each once a round, or `blocks:N`, each N times in a
    /// row, of which the first does not count
    #[arg(long, value_name = "HOW", default_value = "turns")]
    pub(crate) order: Order,
    /// Seconds after which a run has failed, and its --prepare and its --check too
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// Go on until this is known, and exit with 10 where it is so
    #[arg(long, value_enum)]
    pub(crate) fail_on: Option<FailOn>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the runs as hyperfine's JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Write a table in Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,
    /// Append each round to a new file, from which --resume goes on
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) record: Option<PathBuf>,
    /// Go on with the rounds of a file that --record wrote for the same commands
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) around: AroundArgs,
    /// Show on stored noise how often the answers are wrong, as a table (minutes)
    #[arg(long, exclusive = true)]
    pub(crate) self_test: bool,
    #[command(flatten)]
    pub(crate) measures: MeasureArgs,
}

impl CompareArgs {
    /// The shell that was named; hyperfine's `default` and `none` name none.
    pub(crate) fn named_shell(&self) -> Option<&str> {
        self.shell.as_deref().filter(|shell| !["default", "none"].contains(shell))
    }

    pub(crate) fn has_no_shell(&self) -> bool {
        self.no_shell || self.shell.as_deref() == Some("none")
    }

    /// What each run reads; a file of the name `null` is `./null`, as with hyperfine.
    pub(crate) fn input(&self) -> Option<PathBuf> {
        self.input.clone().filter(|path| path.as_os_str() != "null")
    }
}

/// In which order the commands of a round run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Each once.
    Turns,
    /// Each so many times in a row.
    Blocks(u32),
}

/// Runs of a block at most: one block is one observation.
const IN_A_ROW_MAX: u32 = 10_000;

impl Order {
    /// How often in a row each command runs, where that is asked.
    pub(crate) fn in_a_row(self) -> Option<u32> {
        match self {
            Self::Turns => None,
            Self::Blocks(runs) => Some(runs),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "turns" {
            return Ok(Self::Turns);
        }
        let runs = text.strip_prefix("blocks:").and_then(|runs| runs.parse().ok());
        let runs = runs.filter(|runs| (2..=IN_A_ROW_MAX).contains(runs));
        runs.map(Self::Blocks).ok_or_else(|| {
            format!("give turns, or blocks:N with N from 2 to {IN_A_ROW_MAX}, as in blocks:5")
        })
    }
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

/// What can be compared; of each less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metric {
    /// Time from start to end
    Wall,
    /// CPU time in and outside the kernel
    Cpu,
    /// CPU time outside the kernel
    User,
    /// CPU time in the kernel
    System,
    /// Peak resident memory
    Rss,
    /// Page faults
    Faults,
    /// Context switches
    Switches,
    /// Blocks of 512 bytes read from and written to disks
    Blocks,
    /// Bytes read from anything: files, pipes, terminals
    Read,
    /// Bytes written to anything
    Written,
    /// Instructions executed outside the kernel
    Instructions,
    /// Cycles of the processor's clock outside the kernel
    Cycles,
}

impl Metric {
    /// As tables name it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::Cpu => "CPU time",
            Self::User => "user CPU",
            Self::System => "system CPU",
            Self::Rss => "peak RSS",
            Self::Faults => "page faults",
            Self::Switches => "context switches",
            Self::Blocks => "disk blocks",
            Self::Read => "bytes read",
            Self::Written => "bytes written",
            Self::Instructions => "instructions",
            Self::Cycles => "cycles",
        }
    }
}

/// What a gate refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A command slower than the first by more than the margin
    Slower,
    /// A command not shown to be equivalent or faster
    NotShownEquivalent,
}
