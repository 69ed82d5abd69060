//! The claim file, as written. Unknown keys are refused.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Statement;
use crate::{Raw, RawError, declared::Check};

/// Levels by factor: the part of the measurements that is spoken of. Empty: all of them.
pub type Scope = BTreeMap<String, String>;

/// A claim file with its tables read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
}

/// `[document]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The name used everywhere else in the file.
    pub id: String,
    /// Other spellings in tables and raw data.
    #[serde(default)]
    pub names: Vec<String>,
}

/// `[[metric]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricRange {
    /// The smallest.
    pub low: Option<f64>,
    /// The largest.
    pub high: Option<f64>,
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The higher.
    Higher,
    /// The lower.
    Lower,
}

/// `[[factor]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Treatment {
    /// The settings as they took effect.
    pub is: BTreeMap<String, String>,
    /// Why they took effect like this.
    #[serde(default)]
    pub why: String,
}

/// `[[raw]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawInfo {
    /// The name that `[[derive]]` uses, and of `facts/NAME.toml`.
    pub name: String,
    /// The file's name; it is not committed.
    pub file: String,
    /// Of that file.
    pub sha256: String,
    /// `owner/repository @ commit, path`.
    pub source: String,
    /// `csv`, `json`, `json_lines`, `hyperfine` (its single times), `hyperfine_summaries` (what it
    /// says of each command, CPU times among it) or `criterion`.
    pub kind: String,
    /// Added to the scope of every fact of this file, for example the session.
    #[serde(default)]
    pub scope: Scope,
}

impl RawInfo {
    /// Reads the file's text.
    ///
    /// # Errors
    /// As for [`Raw::tables`].
    pub fn read(&self, text: &str) -> Result<Raw, RawError> {
        let mut tables = Raw::tables(&self.file, text)?;
        let last = tables.len() - 1;
        Ok(tables.swap_remove(if self.kind == "hyperfine_summaries" { last } else { 0 }))
    }
}

/// `[[derive]]`: facts of one kind from one raw file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derive {
    /// Its name.
    pub id: String,
    /// The raw file's name, or several of one shape.
    pub raw: OneOrMore,
    /// What is derived.
    #[serde(default)]
    pub kind: Kind,
    /// The metric of the facts.
    pub metric: String,
    /// A column, or a formula of columns.
    pub value: String,
    /// The other side of an identity or a correlation.
    pub other: Option<String>,
    /// The column that holds the subject.
    pub subject: Option<String>,
    /// Columns by factor, where facts are wanted per level.
    #[serde(default)]
    pub by: BTreeMap<String, String>,
    /// Only rows with these texts, by column.
    #[serde(default)]
    pub only: BTreeMap<String, OneOrMore>,
    /// Rows with these texts are left out, by column.
    #[serde(default)]
    pub without: BTreeMap<String, OneOrMore>,
    /// The column, by its factor, whose level `where_min` and `where_max` report.
    #[serde(default, rename = "where")]
    pub place: BTreeMap<String, String>,
    /// The column, by its factor, that divides a group into cells for `mean_cell_sd` and the like.
    #[serde(default)]
    pub cells: BTreeMap<String, String>,
    /// Which statistics; `value` where every group has one row.
    #[serde(default)]
    pub statistics: Vec<String>,
    /// Added to the scope of the facts.
    #[serde(default)]
    pub scope: Scope,
    /// The subject of the facts where no column holds one.
    pub of: Option<String>,
    /// For an identity: what it means if it holds, in one sentence.
    #[serde(default)]
    pub means: String,
    /// The printed unit is the raw value times this.
    #[serde(default = "one")]
    pub times: f64,
}

fn one() -> f64 {
    1.0
}

/// One name or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One.
    One(String),
    /// Several.
    More(Vec<String>),
}

impl OneOrMore {
    /// All names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::More(names) => names,
        }
    }
}

/// What `[[derive]]` derives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Statistics of a value per group.
    #[default]
    Summary,
    /// Whether `value` equals `other` in every row.
    Identity,
    /// The correlation of `value` with `other`.
    Correlation,
    /// Welch's t-test of every pair of subjects.
    Welch,
    /// Whether the subjects, ordered by `value`, were run one after the other.
    Blocks,
    /// Whether the values lie on a lattice.
    Lattice,
}

/// `[[relation]]`: an equation that holds by definition wherever all its metrics are stated for
/// one subject and scope.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    /// Its name.
    pub id: String,
    /// Why it holds.
    pub says: String,
    /// The metric on its left.
    pub metric: String,
    /// The statistic on its left; without it, any, the same on both sides.
    pub statistic: Option<String>,
    /// The right: metrics, or `metric.statistic`, with + - * / ( ) min max.
    pub formula: String,
}

/// What a value is said of; in tables every level (table, row, column) adds what it knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// Factors that are summarised away, each list one summary: `[["run"], ["run", "config"]]`.
    pub over: Vec<Vec<String>>,
    /// How many single values the document says it prints.
    pub promised: Option<usize>,
}

/// `[[claim]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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

/// `[[claim.test]]`: rows of a committed table, and what they must show.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The folder in reports/.
    pub report: String,
    /// The table's file name without `.tsv`.
    pub table: String,
    /// Texts by column that single out the row or rows; all rows unless given.
    #[serde(default)]
    pub row: BTreeMap<String, OneOrMore>,
    /// The column with the value.
    pub column: String,
    /// Subtract the value of this row.
    pub minus: Option<BTreeMap<String, OneOrMore>>,
    /// Columns with an interval around the value.
    pub low: Option<String>,
    /// See `low`.
    pub high: Option<String>,
    /// The column with the minimum detectable effect.
    pub detectable: Option<String>,
    /// What must be there: `=`, `<`, `>`, `<=`, `>=` a number, or `is` with a word.
    pub expect: Expect,
    /// What it means, in our words, for the page.
    #[serde(default)]
    pub says: String,
}

/// What a test must show.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The cell's text is one of these (for a column of verdicts).
    pub is: Option<OneOrMore>,
    /// The value is above this.
    pub above: Option<f64>,
    /// The value is below this.
    pub below: Option<f64>,
    /// The value is this, within `within`.
    pub equals: Option<f64>,
    /// See `equals`.
    pub within: Option<f64>,
}
