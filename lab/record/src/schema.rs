//! The rows and files of a results folder, as stored.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Expectation;

/// `run.json`: everything that is fixed when a sweep starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// The experiment's name.
    pub experiment: String,
    /// Its file, relative to the repository; `--resume` reads it again and compares.
    #[serde(default)]
    pub experiment_file: String,
    /// The profile that changed it, where one did.
    #[serde(default)]
    pub profile: Option<String>,
    /// Addresses of real servers; empty on the paced server.
    #[serde(default)]
    pub servers: Vec<String>,
    /// The model, where the command line named one.
    #[serde(default)]
    pub model: Option<String>,
    /// The experiment file's text, so that a report never reads today's definition.
    pub experiment_toml: String,
    /// Further files that the experiment names (tables of servers), by the name it gives them.
    pub attachments: BTreeMap<String, String>,
    /// sha256 of the experiment's text and attachments.
    pub experiment_sha256: String,
    /// sha256 of the `lab` program, which drives the sweep and is the paced server. Records from
    /// before it was kept lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab_sha256: Option<String>,
    /// The command line after the program's name, paths relative to the repository.
    pub arguments: Vec<String>,
    /// What was declared before anything ran.
    pub analysis: Analysis,
    /// What was expected of the results; records from before expectations have none, or got theirs
    /// from `proof migrate`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
    /// The seed that order, lengths and schedules come from.
    pub seed: u64,
    /// Which session of its experiment it is, where it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<crate::SessionOf>,
    /// Blocks, as planned.
    pub blocks: u32,
    /// Runs, as planned.
    pub runs_planned: u64,
    /// The state of the repository, where there is one.
    pub git: Option<GitState>,
    /// Who was measured.
    pub variants: Vec<VariantEntry>,
    /// The machine; `--resume` refuses another one.
    pub machine: Machine,
    /// Start, in seconds since 1970 (for people; no interval is computed from it).
    pub started_unix_s: u64,
}

/// What an experiment declares before anything runs: who is compared with whom, on what, and how
/// small a difference counts as none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// The variant that every other one is compared with.
    pub reference: String,
    /// The variant that does the least a machine must do, where the family has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<String>,
    /// Pairs over (cell × block), or independent samples where the workload differs by variant.
    pub pairing: Pairing,
    /// Family-wise error rate of one comparison's verdicts.
    pub alpha: f64,
    /// The comparisons; the first is the primary one.
    pub comparisons: Vec<Comparison>,
    /// Comparisons of two levels of a factor within one variant: one family of tests, all together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<Contrast>,
    /// How comparisons and contrasts are measured, where they are measured by themselves; without
    /// it they are judged by the pairs that lie in the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<crate::Rounds>,
    /// Sessions among which the time is divided; without it there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<crate::Sessions>,
}

/// Whether two variants saw the same work in the same block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// Same lengths and schedules: differences within (cell, block).
    Paired,
    /// Own lengths and schedules: two independent samples.
    Unpaired,
}

/// One declared comparison: all variants against the reference, on one metric, over some cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The metric, for example `wall_ns`.
    pub metric: String,
    /// Levels that a cell must have to take part, by factor.
    pub cells: BTreeMap<String, Vec<String>>,
    /// How two values are compared.
    pub scale: Scale,
    /// The equivalence margin: a fraction for `ratio` (0.01 = 1 %), the metric's unit for
    /// `difference`.
    pub margin: f64,
    /// `false` leaves it to the blocks, where others are asked in rounds.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub rounds: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// One declared contrast: a variant at one level of a factor against itself at another, paired over
/// the further levels of the cell and the blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// Names it in reports and claims, for example `workers_8_against_default`.
    #[serde(alias = "name")]
    pub id: String,
    /// The variant.
    pub variant: String,
    /// The metric.
    pub metric: String,
    /// The factor.
    pub factor: String,
    /// The level that is judged.
    pub level: String,
    /// The level that it is judged against.
    pub reference: String,
    /// Levels that a cell must have to take part, by factor.
    pub cells: BTreeMap<String, Vec<String>>,
    /// How two values are compared.
    pub scale: Scale,
    /// The equivalence margin, as in [`Comparison::margin`].
    pub margin: f64,
    /// As [`Comparison::rounds`].
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub rounds: bool,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Logarithm of value over reference.
    Ratio,
    /// Value minus reference.
    Difference,
}

/// Commit and cleanliness of the checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitState {
    /// The commit's hash.
    pub commit: String,
    /// Whether tracked files differed from it.
    pub dirty: bool,
}

/// One program of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariantEntry {
    /// The name in this sweep; a twin has its own.
    pub variant: String,
    /// Its family.
    pub family: String,
    /// The variant whose file this is a copy of (the A/A control).
    pub twin_of: Option<String>,
    /// What is measured, for example `tokio`.
    pub measures: String,
    /// Its version.
    pub version: String,
    /// Its features.
    pub features: Vec<String>,
    /// With its version: what reads the program, where that is a text, or the compiler that its
    /// own script used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// The manifest's tags.
    pub tags: Vec<String>,
    /// sha256 of the program's file.
    pub binary_sha256: String,
    /// Size of the program's file.
    pub binary_bytes: u64,
}

/// A machine, by an allow-list: no host name, no user name, no path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// Logical CPUs that this process may use.
    pub cpus: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Architecture, for example `x86_64`.
    pub arch: String,
    /// What tells it from machines of the same make: the beginning of a hash of `/etc/machine-id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Machine {
    /// Whether both are one machine, a new kernel or not. Without an id all that is known has to be
    /// equal.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            // Containers of one image may share an id.
            (Some(one), Some(two)) => one == two && self.cpu_model == other.cpu_model,
            _ => self == other,
        }
    }
}

/// A line of `sessions.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// What happened.
    pub event: SessionEvent,
    /// When, in seconds since 1970.
    pub unix_s: u64,
    /// What is known of the environment (governor, compiler, load, which way in); `null` carries a
    /// reason in a key that ends in `_reason`.
    pub environment: BTreeMap<String, serde_json::Value>,
}

/// What a session line reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionEvent {
    /// The sweep began.
    Start,
    /// A stopped sweep went on.
    Resume,
    /// All runs are there.
    Finished,
    /// It was stopped (Ctrl-C, or an error of the lab itself).
    Stopped,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Done; `verification` says how far its answer was held against what is known.
    Ok,
    /// Not done; `reason` says why.
    Failed,
    /// Refused by the variant.
    Unsupported,
}

/// How far the answer of a run was held against what is known.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// Equal to an answer that is known without the variant.
    Verified,
    /// Of the right shape and plausible; what the right answer is, nobody knows.
    Checked,
    /// Not held against anything, or known to answer another question.
    #[default]
    Unchecked,
}

/// Records of schema 1 only said whether an answer agreed.
fn word_or_agreed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Verification, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Word(Verification),
        Agreed(bool),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::Word(word) => word,
        Written::Agreed(true) => Verification::Verified,
        Written::Agreed(false) => Verification::Unchecked,
    })
}

/// A server that was kept up over runs, as one of them found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// How often this session had started it: 2 and more, where it had ended between two runs.
    pub start: u32,
    /// How many runs had it since then and before this one.
    pub runs_before: u32,
    /// CPU time of its processes during the run, which is in none of the run's counters.
    pub cpu_ns: u64,
}

/// A line of `runs.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// Position in the plan; (`order`, `attempt`) is unique.
    pub order: u64,
    /// 0; counted on where a wash, or in old records a disturbed run, is repeated.
    pub attempt: u32,
    /// The pass over all cells that it belongs to.
    pub block: u32,
    /// A warm-up run is kept and never analysed.
    pub warmup: bool,
    /// Family.
    pub family: String,
    /// The variant's name in this sweep.
    pub variant: String,
    /// Levels by factor.
    pub cell: BTreeMap<String, String>,
    /// How it ended.
    pub status: Status,
    /// Why it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How far its answer was held against what is known.
    #[serde(alias = "verified", deserialize_with = "word_or_agreed")]
    pub verification: Verification,
    /// sha256 of the program's file.
    pub binary_sha256: String,
    /// Start, `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// From spawn to exit, as the driver saw it.
    pub process_ns: u64,
    /// CPU time of the process, of its children that it waited for, and of what it left behind.
    /// Records from before it was kept lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The variant's counters and, prefixed `server_`, the server's.
    pub counters: BTreeMap<String, u64>,
    /// Servers that were up before it and after it, by name; what it started itself is not here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, Kept>,
    /// What else the machine did meanwhile.
    pub noise: Noise,
    /// Causes outside the run that the gate found; empty for a clean run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gated: Vec<String>,
    /// What each NVIDIA card did meanwhile; `null` where that is not known. Records from before
    /// cards were asked during runs lack it.
    #[serde(default)]
    pub gpu: Option<Vec<CardUse>>,
    /// Why `gpu` is `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_reason: Option<String>,
    /// Name of the samples (sha256 of their uncompressed bytes), where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<String>,
}

/// Noise during a run or a window; `None` where the machine does not tell. Records from before the
/// fields that may be left out lack them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// CPU time that the hypervisor took, over all CPUs.
    pub steal_ns: Option<u64>,
    /// CPU time of other processes: not the lab, its servers, the variant or a descendant of these.
    pub outside_cpu_ns: Option<u64>,
    /// Time that some task waited for a CPU (PSI `cpu some`).
    pub pressure_cpu_ns: Option<u64>,
    /// Time the variant's threads were runnable and not running, where the kernel tells.
    pub run_queue_ns: Option<u64>,
    /// Mean CPU frequency after the run.
    pub frequency_khz: Option<u64>,
    /// CPU time of the lab, its servers, the variant and all descendants of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_cpu_ns: Option<u64>,
    /// CPU time that the machine had: its CPUs times the time between the two readings. Steal and
    /// CPU time are shares of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_ns: Option<u64>,
    /// By how much steal and CPU time of other processes may be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_ns: Option<u64>,
    /// Why the noise gate cannot say that nothing disturbed the run; `None` where it can, and where
    /// it found a cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ungated: Option<String>,
}

/// A line of `windows.jsonl`: noise over runs that follow each other, for runs that are too short
/// for the kernel's counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// Order of its first run.
    pub first_order: u64,
    /// Order of its last run.
    pub last_order: u64,
    /// Noise from the start of the first run to the end of the last.
    pub noise: Noise,
    /// Causes outside the runs that the gate found; empty for a clean window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gated: Vec<String>,
}

impl Window {
    /// Gives its verdict to a run within it that could not be gated alone.
    pub(crate) fn gate(&self, run: &mut Run) {
        let within = (self.first_order..=self.last_order).contains(&run.order);
        if within && run.noise.ungated.is_some() {
            run.gated.extend_from_slice(&self.gated);
            run.noise.ungated.clone_from(&self.noise.ungated);
        }
    }
}

/// One card during a run: what was in use by all programs, not by the run's servers alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardUse {
    /// Its number.
    pub card: u32,
    /// Its model.
    pub name: String,
    /// How many samples fell into the run.
    pub samples: u32,
    /// Share of the last sampling period with a kernel running; `None`, as in all of these, where
    /// the card never tells.
    pub utilisation_percent: Option<Spread>,
    /// Memory in use.
    pub memory_used_bytes: Option<Spread>,
    /// Clock of the multiprocessors.
    pub clock_hz: Option<Spread>,
    /// Power drawn.
    pub power_mw: Option<Spread>,
}

/// The middle and the largest of the samples of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Nearest rank: of an even number of samples the lower of the two in the middle.
    pub median: u64,
    /// The largest.
    pub max: u64,
}
