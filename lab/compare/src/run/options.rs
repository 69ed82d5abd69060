//! What a comparison is of and how it is made, whatever command line or file says so.

use std::{
    convert::Infallible,
    fmt::{self, Display, Formatter},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use super::{metric::Metric, plot::Plot};

/// Runs of a block at most: one block is one observation.
const IN_A_ROW_MAX: u32 = 10_000;

/// A comparison of commands.
#[derive(Clone, Debug)]
pub struct Options {
    /// Commands as they were given, the reference first; of revisions one program of a build and
    /// its arguments.
    pub commands: Vec<String>,
    /// Git revisions to compare instead.
    pub revisions: Option<Revisions>,
    /// Names of commands, in their order.
    pub names: Vec<String>,
    /// Values for the places in commands and in what prepares them, by name.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Whether the first command is compared with a copy of its program too.
    pub control: bool,
    /// How each run is made.
    pub runs: RunOptions,
    /// What the verdict is about.
    pub metric: Metric,
    /// Of the random orders; another one each time where none is given.
    pub seed: Option<u64>,
    /// When it ends.
    pub limits: Limits,
    /// The file of the error level that many attempts share.
    pub attempts: Option<PathBuf>,
    /// Where its rounds are kept.
    pub rounds: RoundFile,
    /// What is counted after the timed runs.
    pub counts: Counts,
    /// What becomes of the result.
    pub result: ResultOptions,
}

impl Options {
    /// How many programs a round may run of each command.
    pub(super) fn builds(&self) -> u16 {
        self.revisions.as_ref().map_or(1, |revisions| revisions.builds)
    }
}

/// How each run is made.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// What runs once before the first run.
    pub setup: Option<String>,
    /// What has to answer before the first run, or after what runs before each: commands, ports.
    pub ready: Vec<String>,
    /// What runs before each run: one for all commands, or one each.
    pub prepare: Vec<String>,
    /// What runs after each run: one for all commands, or one each.
    pub conclude: Vec<String>,
    /// What runs once after the last run.
    pub cleanup: Option<String>,
    /// What reads the commands.
    pub shell: Shell,
    /// What each run reads.
    pub input: Option<PathBuf>,
    /// Where the output of timed runs goes: one for all commands, or one each.
    pub outputs: Vec<Destination>,
    /// How answers are checked.
    pub check: Check,
    /// What a run's exit status does.
    pub failure: OnFailure,
    /// Files that commands use beside their programs.
    pub data: Vec<PathBuf>,
    /// Rounds before the first that counts.
    pub warmup: usize,
    /// In how many sessions, each from new copies of programs and data; 1 copies nothing.
    pub sessions: u16,
    /// After this long a run has failed, and what prepares and checks it too.
    pub timeout: Option<Duration>,
    /// In which order commands run.
    pub order: Order,
    /// Runs of the command within each timed run.
    pub inner: u32,
    /// Whether both commands of a pair run at once, each on a half of the processors.
    pub duet: bool,
    /// Where the runs lie in memory.
    pub layouts: Layouts,
}

impl RunOptions {
    /// What runs before each run of the command at this place.
    pub(super) fn prepare_of(&self, place: usize) -> Option<&String> {
        self.prepare.get(place).or(self.prepare.first())
    }

    /// What runs after each run of it.
    pub(super) fn conclude_of(&self, place: usize) -> Option<&String> {
        self.conclude.get(place).or(self.conclude.first())
    }

    /// Where the output of its timed runs goes.
    pub(super) fn output_of(&self, place: usize) -> Destination {
        self.outputs.get(place).or(self.outputs.first()).cloned().unwrap_or_default()
    }
}

/// Git revisions and how they are built.
#[derive(Clone, Debug)]
pub struct Revisions {
    /// Names of revisions, the reference first; `.` is the work tree.
    pub names: Vec<String>,
    /// What builds one, in a copy of its files.
    pub build: String,
    /// How often each is built.
    pub builds: u16,
    /// Whether what an earlier comparison built is built again.
    pub rebuild: bool,
}

/// When a comparison ends.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Seconds beyond which nothing is measured; without them the usual ones, or as long as the
    /// fewest rounds for an answer take.
    pub budget_s: Option<f64>,
    /// Rounds at most.
    pub most_rounds: Option<usize>,
    /// The share of the reference's time below which no difference matters.
    pub margin: f64,
    /// The share of runs that may be slow before it matters.
    pub tail: f64,
    /// The probability of a wrong verdict, where no file of attempts says it.
    pub alpha: f64,
    /// What is to be known before it ends, where nothing is to fail.
    pub stop: Stop,
    /// What is to be known before it ends.
    pub fail_on: Option<FailOn>,
}

/// Where rounds are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoundFile {
    /// Nowhere.
    None,
    /// In a new file.
    New(PathBuf),
    /// In a file whose rounds are gone on with.
    Resumed(PathBuf),
}

/// What is counted after the timed runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Instructions, with valgrind.
    pub instructions: bool,
    /// System calls, with strace or perf.
    pub system_calls: bool,
}

/// What becomes of the result.
#[derive(Clone, Debug)]
pub struct ResultOptions {
    /// How it is printed.
    pub format: Format,
    /// The file of the runs in hyperfine's JSON.
    pub hyperfine_json: Option<PathBuf>,
    /// The file of a table in Markdown.
    pub markdown: Option<PathBuf>,
    /// The picture.
    pub plot: Option<Plot>,
    /// Whether a CI system is told of the verdicts.
    pub annotations: bool,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What a gate refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// A command slower than the first by more than the margin.
    Slower,
    /// A command not shown to be equivalent or faster.
    NotShownEquivalent,
    /// A command of which more runs are slow than of the first, by `tail`.
    Tail,
}

/// When a comparison that nothing fails for has its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// With the direction.
    Direction,
    /// With the size too: to this share where one is given, else as the margin asks.
    Size(Option<f64>),
}

/// What a run's exit status other than 0 does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// It ends the comparison.
    End,
    /// Nothing, where it is one of these.
    Accept(Vec<i32>),
    /// Nothing.
    Ignore,
}

impl OnFailure {
    /// Whether a run with this status counts.
    pub(super) fn accepts(&self, status: i32) -> bool {
        status == 0
            || match self {
                Self::End => false,
                Self::Accept(statuses) => statuses.contains(&status),
                Self::Ignore => true,
            }
    }

    /// What would accept a run that does not count.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Accept(_) => "; --ignore-failure does not list that",
            Self::End | Self::Ignore => "; --ignore-failure accepts that",
        }
    }
}

impl FromStr for OnFailure {
    type Err = String;

    /// As hyperfine reads the value of its option.
    fn from_str(text: &str) -> Result<Self, String> {
        if ["", "all-non-zero"].contains(&text) {
            return Ok(Self::Ignore);
        }
        let statuses = text.split(',').map(|status| status.trim().parse::<u8>().map(i32::from));
        let statuses: Result<_, _> = statuses.collect();
        let why = |_| "give statuses from 0 to 255 with commas between them, as in 1,2".to_owned();
        statuses.map(Self::Accept).map_err(why)
    }
}

/// Where the runs lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layouts {
    /// Each round elsewhere.
    Varied,
    /// All rounds alike.
    Fixed,
}

/// What reads the commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    /// `sh`, and nothing for a command that needs none.
    WhereNeeded,
    /// Nothing.
    Never,
    /// This shell, with its arguments.
    Named(String),
}

impl Shell {
    /// By its name, with those that hyperfine has too.
    pub fn named(name: &str) -> Self {
        match name {
            "default" => Self::WhereNeeded,
            "none" => Self::Never,
            name => Self::Named(name.to_owned()),
        }
    }

    /// The shell that was named.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::WhereNeeded | Self::Never => None,
        }
    }
}

/// How answers are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// By their bytes, each run's.
    SameOutput,
    /// By their bytes, before the rounds alone.
    Once,
    /// By their exit status alone.
    Status,
    /// By a command that reads them.
    By(String),
}

impl FromStr for Check {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "same-output" => Self::SameOutput,
            "once" => Self::Once,
            "status" => Self::Status,
            command => Self::By(command.to_owned()),
        })
    }
}

/// Where the output of timed runs goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    #[default]
    Null,
    /// Into a file in memory.
    Memory,
    /// Through a pipe into the lab.
    Pipe,
    /// Where the lab's own output goes.
    Inherit,
    /// Into this file.
    File(PathBuf),
}

impl Destination {
    /// Where nothing is said: what is to be looked at is kept.
    pub fn for_check(check: &Check) -> Self {
        if *check == Check::SameOutput { Self::Memory } else { Self::Null }
    }
}

impl FromStr for Destination {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "null" => Self::Null,
            "kept" => Self::Memory,
            "pipe" => Self::Pipe,
            "inherit" => Self::Inherit,
            path => Self::File(path.into()),
        })
    }
}

impl Display for Destination {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Memory => f.write_str("kept"),
            Self::Pipe => f.write_str("pipe"),
            Self::Inherit => f.write_str("inherit"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// In which order the commands of a round run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each once.
    Turns,
    /// Each so many times in a row.
    Blocks(u32),
}

impl Order {
    /// How often in a row each command runs, where that is asked.
    pub(super) fn in_a_row(self) -> Option<u32> {
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
