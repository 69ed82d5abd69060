//! What one run does: the workload that a variant reads, what must be ready around it, and how its
//! answer is checked.

use std::{collections::BTreeMap, fmt::Debug, path::PathBuf};

use lab_protocol::RunOutcome;
use lab_record::Verification;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Columns of samples, by name.
pub type Columns = BTreeMap<String, Vec<i64>>;

/// What a whole sweep needs around its runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Servers that answer the variants.
    pub servers: Option<ServersNeeded>,
    /// A folder of text files that every run reads: how many, and bytes of each.
    pub text_files: Option<(u32, u32)>,
    /// An empty folder for each run, on the disk that is measured.
    pub empty_folder: bool,
    /// The floor variant's answers are the truth of this family.
    pub floor_answers: bool,
    /// Whole processes are compared, so that each run has the times of its own.
    pub whole_processes: bool,
    /// How long a program takes to start is part of the question.
    pub startup_times: bool,
}

/// Servers beside the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServersNeeded {
    /// Addresses from the command line instead of the embedded paced server.
    pub given: bool,
    /// How many addresses a run may need.
    pub count: usize,
    /// How many different servers some cell asks for.
    pub different: usize,
    /// The model's name.
    pub model: String,
}

/// What the driver has made ready for one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Addresses of the servers that this run uses.
    pub servers: Vec<String>,
    /// The folder of [`Needs::text_files`].
    pub text_files: PathBuf,
    /// The folder of [`Needs::empty_folder`].
    pub empty_folder: PathBuf,
    /// The corpus of [`Work::corpus`].
    pub corpus: PathBuf,
    /// Where the family's `worker` program lies; empty where it was not built.
    pub worker_folder: PathBuf,
}

/// A corpus that `lab corpus` makes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Files.
    pub files: u32,
    /// Bytes of all files together.
    pub bytes: u64,
    /// The seed of its text.
    pub seed: u64,
    /// Few large files and many small ones.
    #[serde(default)]
    pub skew: bool,
    /// Lines that try to break a parser.
    #[serde(default)]
    pub hostile: bool,
}

/// A model that must be in a server's memory before a run is timed.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelLoad {
    /// The server's address.
    pub server: String,
    /// The model's name.
    pub model: String,
    /// Options that make a server load the model anew, as its API takes them.
    pub options: Value,
}

/// The work of one run. A family's typed workload lies behind it.
pub trait Work: Debug + Send + Sync {
    /// The workload as a variant reads it, with the places filled in.
    fn workload(&self, at: &Places) -> Value;

    /// How many of the sweep's servers this run uses.
    fn servers(&self) -> usize {
        0
    }

    /// What the paced server must be for this run; `None` on real servers.
    fn paced(&self) -> Option<&Value> {
        None
    }

    /// What real servers must have loaded.
    fn model_loads(&self, _at: &Places) -> Vec<ModelLoad> {
        Vec::new()
    }

    /// The corpus to read.
    fn corpus(&self) -> Option<&Corpus> {
        None
    }

    /// What the floor variant is asked for its answer; `None` where a variant with these tags has
    /// no answer to compare.
    fn floor_workload(&self, _at: &Places, _tags: &[String]) -> Option<Value> {
        None
    }

    /// How long one CPU is busy with the work that a repetition was asked for, in nanoseconds; none
    /// where the workload does not declare it, or a variant with these tags does no work.
    fn declared_ns(&self, _tags: &[String]) -> Option<u64> {
        None
    }

    /// Which share of one core a neighbour takes while it runs, in percent.
    fn neighbour_percent(&self) -> u64 {
        0
    }

    /// Counters of the record that the plan knows.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Compares an outcome of status `ok` with what is known.
    ///
    /// # Errors
    /// One sentence that says what is wrong with the answer.
    fn check(&self, answer: &Answer<'_>, truth: &Truth<'_>) -> Result<Checked, String>;
}

/// What a variant left, for the comparison with the truth.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Its outcome.
    pub outcome: &'a RunOutcome,
    /// How long the process lived, as the driver saw it.
    pub process_ns: u64,
    /// The tags of its manifest.
    pub tags: &'a [String],
}

impl<'a> Answer<'a> {
    /// Whether the variant has a tag.
    pub fn is_tagged(&self, tag: &str) -> bool {
        self.tags.iter().any(|known| known == tag)
    }

    /// A column of so many rows.
    ///
    /// # Errors
    /// Names the column and its rows.
    pub fn column(&self, name: &str, rows: usize) -> Result<&'a [i64], String> {
        column(self.outcome, name, rows)
    }
}

/// That a run did not measure more time than its process lived, over times of which none passed
/// beside another, and none that is negative.
///
/// # Errors
/// Names the time, or both.
pub fn lived(measured_ns: &[i64], process_ns: u64) -> Result<(), String> {
    if let Some(negative) = measured_ns.iter().find(|ns| **ns < 0) {
        return Err(format!("says that it measured {negative} ns"));
    }
    let sum: i128 = measured_ns.iter().copied().map(i128::from).sum();
    if sum <= i128::from(process_ns) {
        return Ok(());
    }
    Err(format!("says that it measured {sum} ns, but it lived only {process_ns} ns"))
}

/// A column of an outcome, of so many rows.
///
/// # Errors
/// Names the column and its rows.
pub fn column<'a>(outcome: &'a RunOutcome, name: &str, rows: usize) -> Result<&'a [i64], String> {
    let values = outcome.samples.get(name).map_or(&[][..], Vec::as_slice);
    if values.len() == rows {
        return Ok(values);
    }
    Err(format!("column {name} has {} rows, not {rows}", values.len()))
}

/// What an answer can be compared with.
#[derive(Debug, Clone, Copy)]
pub enum Truth<'a> {
    /// What the plan itself knows.
    Plan,
    /// The floor variant's answer to [`Work::floor_workload`].
    Floor(&'a RunOutcome),
    /// What the paced server did.
    Served(&'a [ServedCall]),
}

/// One request as the paced server saw it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ServedCall {
    /// The request's seed, which names it.
    pub seed: i64,
    /// Which of the sweep's servers was asked, in the order of their addresses.
    pub port_index: usize,
    /// `CLOCK_MONOTONIC`, as all times here.
    pub received_ns: i64,
    /// When the first token was due.
    pub first_due_ns: i64,
    /// When it was written.
    pub first_sent_ns: i64,
    /// When the last token was written.
    pub last_sent_ns: i64,
    /// When the end of the reply was written.
    pub done_sent_ns: i64,
    /// Tokens written.
    pub tokens: i64,
    /// xxh64 of their text.
    pub text_hash: i64,
    /// When each token was written.
    #[serde(default)]
    pub sent_ns: Vec<i64>,
    /// When the client was seen to have closed its side before the end, or -1.
    #[serde(default = "never")]
    pub left_ns: i64,
    /// Written minus due, for each token.
    pub pacing_error_ns: Vec<i64>,
    /// Whether the reply was finished.
    pub complete: bool,
}

fn never() -> i64 {
    -1
}

/// An answer that was compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Further columns for the record.
    pub columns: Columns,
    /// Further counters for the record.
    pub counters: BTreeMap<String, u64>,
    /// How far the answer was held against what is known.
    pub verification: Verification,
}

impl Checked {
    /// The answer is the known one, and there is nothing to add.
    pub fn right() -> Self {
        let verification = Verification::Verified;
        Self { columns: Columns::new(), counters: BTreeMap::new(), verification }
    }

    /// The answer has the right shape, and nobody knows the right one.
    pub fn plausible() -> Self {
        Self { verification: Verification::Checked, ..Self::right() }
    }
}
