//! The claim file, as written. Unknown keys are refused.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Derive, RawInfo, Relation, Statement, Test};
use crate::declared::Check;

/// Levels by factor: the part of the measurements that is spoken of. Empty: all of them.
pub type Scope = BTreeMap<String, String>;

/// A claim file with its tables read.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The format's version, 1.
    pub schema: u32,
    /// The document.
    pub document: DocumentInfo,
    /// Who is compared.
    #[serde(default)]
    pub subject: Vec<Subject>,
    /// What is measured.
    #[serde(default)]
    pub metric: Vec<Metric>,
    /// What was varied.
    #[serde(default)]
    pub factor: Vec<Factor>,
    /// Raw data of the document's authors.
    #[serde(default)]
    pub raw: Vec<RawInfo>,
    /// Facts to derive from raw data.
    #[serde(default)]
    pub derive: Vec<Derive>,
    /// Equations between metrics that hold by definition.
    #[serde(default)]
    pub relation: Vec<Relation>,
    /// Conditions between the very values they name.
    #[serde(default)]
    pub check: Vec<Check>,
    /// Its tables.
    #[serde(default)]
    pub table: Vec<TableInfo>,
    /// What its text says.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// How our runs differ from what it measured.
    #[serde(default)]
    pub differs: Vec<Differs>,
}

/// `[[differs]]`: how workload and machine of one of our reports differ from the document's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Differs {
    /// The folder in reports/.
    pub report: String,
    /// What differs, in our words.
    pub says: String,
}

/// `[document]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentInfo {
    /// The name of the claim file without its ending.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its file name; findings name it.
    pub file: String,
    /// Of that file.
    pub sha256: String,
    /// `owner/repository @ commit, path`.
    pub source: String,
    /// Its licence, or that it has none.
    pub licence: String,
}

/// `[[subject]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The name used everywhere else in the file.
    pub id: String,
    /// Other spellings in tables and raw data.
    #[serde(default)]
    pub names: Vec<String>,
}

/// `[[metric]]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// The name used everywhere else in the file.
    pub id: String,
    /// The unit of its values, `1` for a ratio.
    pub unit: String,
    /// `higher` or `lower`; without it nothing can be best.
    pub better: Option<Better>,
    /// What it is, in a few words.
    #[serde(default)]
    pub says: String,
    /// The smallest and largest value it can take.
    pub range: Option<MetricRange>,
    /// A statistic of it whose values over subjects and scopes are to be tested for a lattice
    /// (a poll, a timer tick), apart for each level of a factor of repeats.
    pub lattice: Option<String>,
}

/// The values a metric can take.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetricRange {
    /// The smallest.
    pub low: Option<f64>,
    /// The largest.
    pub high: Option<f64>,
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The higher.
    Higher,
    /// The lower.
    Lower,
}

/// `[[factor]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// The name used in scopes.
    pub id: String,
    /// Its levels; a level that is not declared is taken as it is written.
    #[serde(default)]
    pub level: Vec<Level>,
    /// Its levels are repeats of one measurement (a run, a session): who wins should not depend on
    /// them.
    #[serde(default)]
    pub repeats: bool,
}

/// `[[factor.level]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The name used in scopes.
    pub id: String,
    /// Other spellings in tables and raw data.
    #[serde(default)]
    pub names: Vec<String>,
    /// What was really set: two levels with equal treatments are one.
    pub treatment: Option<Treatment>,
}

/// What a level really set.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Treatment {
    /// The settings as they took effect.
    pub is: BTreeMap<String, String>,
    /// Why they took effect like this.
    #[serde(default)]
    pub why: String,
}

/// What a value is said of; in tables every level (table, row, column) adds what it knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The metric's id.
    pub metric: Option<String>,
    /// `value` (one run), `n`, `mean`, `median`, `min`, `max`, `sd`, `cv`, `p5`, …
    pub statistic: Option<String>,
    /// The subject's id.
    pub subject: Option<String>,
    /// Levels by factor.
    #[serde(default)]
    pub scope: Scope,
    /// How the value relates to the quantity; `=` unless given.
    pub comparator: Option<Comparator>,
    /// The other side of a difference, a ratio or a percentage.
    pub against: Option<Against>,
    /// The cell holds a level of this factor (where the extreme was), not a number.
    pub level_of: Option<String>,
    /// Nothing is said here that can be audited.
    #[serde(default)]
    pub skip: bool,
}

/// The other side: what differs from the claim's own quantity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Against {
    /// Another metric.
    pub metric: Option<String>,
    /// Another statistic.
    pub statistic: Option<String>,
    /// Another subject.
    pub subject: Option<String>,
    /// Another scope, in place of the claim's.
    pub scope: Option<Scope>,
    /// Levels that differ, where the rest of the scope is the claim's.
    #[serde(default)]
    pub levels: Scope,
    /// A number instead of a quantity, as printed.
    pub value: Option<String>,
}

/// How a claim's value relates to its quantity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
pub enum Comparator {
    /// Equal, within the printed rounding.
    #[default]
    #[serde(rename = "=")]
    Equal,
    /// Below.
    #[serde(rename = "<")]
    Below,
    /// Above.
    #[serde(rename = ">")]
    Above,
    /// Not above.
    #[serde(rename = "<=")]
    AtMost,
    /// Not below.
    #[serde(rename = ">=")]
    AtLeast,
    /// From `value` to `high`, for every value spoken of.
    #[serde(rename = "between")]
    Between,
    /// The quantity less `against`, in the metric's unit.
    #[serde(rename = "difference_to")]
    DifferenceTo,
    /// The quantity over `against`.
    #[serde(rename = "ratio_to")]
    RatioTo,
    /// 100 (quantity - against) / against.
    #[serde(rename = "percent_to")]
    PercentTo,
    /// The best of all subjects by the metric's direction; `among` narrows them down.
    #[serde(rename = "best_of")]
    BestOf,
    /// The worst of them.
    #[serde(rename = "worst_of")]
    WorstOf,
    /// The highest of them, good or bad.
    #[serde(rename = "highest_of")]
    HighestOf,
    /// The lowest of them.
    #[serde(rename = "lowest_of")]
    LowestOf,
    /// Something that no quantity of the document decides: a cause, advice.
    #[serde(rename = "says")]
    Says,
}

/// `[[table]]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableInfo {
    /// Its name.
    pub id: String,
    /// CSV, relative to the claim file.
    pub file: String,
    /// Where the table is from, if not from the document; `line` is then that of the CSV.
    pub from: Option<String>,
    /// The line of its header in the document.
    pub line: usize,
    /// The heading above it.
    pub section: String,
    /// What all its cells share.
    #[serde(default)]
    pub all: Part,
    /// The column whose cells name the subject.
    pub subject: Option<String>,
    /// Columns whose cells name a level, by factor.
    #[serde(default)]
    pub factor: BTreeMap<String, String>,
    /// The column by which `row` finds rows; the first unless given.
    pub row_name: Option<String>,
    /// What each row adds, by its name.
    #[serde(default)]
    pub row: BTreeMap<String, Part>,
    /// What each column adds, by its heading; a column that is not named is skipped.
    #[serde(default)]
    pub column: BTreeMap<String, Part>,
    /// A table of the document's single runs: its values are also summarised as if they were raw
    /// data, over these factors.
    #[serde(default)]
    pub runs: Option<Runs>,
    /// Its cells, read from the file.
    #[serde(skip)]
    pub cells: Vec<Statement>,
}

/// A table that prints single runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// Factors that are summarised away, each list one summary: `[["run"], ["run", "config"]]`.
    pub over: Vec<Vec<String>>,
    /// How many single values the document says it prints.
    pub promised: Option<usize>,
}

/// `[[claim]]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// What it says, in our own words.
    pub says: String,
    /// The heading above it.
    pub section: String,
    /// Its line in the document.
    pub line: usize,
    /// The metric's id.
    pub metric: Option<String>,
    /// As in [`Part`].
    pub statistic: Option<String>,
    /// The subject's id.
    pub subject: Option<String>,
    /// Levels by factor.
    #[serde(default)]
    pub scope: Scope,
    /// How the value relates to the quantity.
    #[serde(default)]
    pub comparator: Comparator,
    /// The number as printed, without its unit, so that its digits count.
    pub value: Option<String>,
    /// The upper end for `between`.
    pub high: Option<String>,
    /// Instead of a number: a level of a factor (with the statistics `where_min`, `where_max`).
    pub level: Option<String>,
    /// The other side of a difference, a ratio or a percentage.
    pub against: Option<Against>,
    /// For `best_of` and the like: the subjects compared; all unless given.
    #[serde(default)]
    pub among: Vec<String>,
    /// The quantity among the facts, where it is not the claim's own.
    pub fact: Option<Against>,
    /// What of our runs decides it; all must agree.
    #[serde(default)]
    pub test: Vec<Test>,
    /// Why no run of ours can decide it.
    pub untestable: Option<String>,
}
