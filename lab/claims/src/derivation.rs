//! What a claim file says of raw data, and which facts are to be derived of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Scope;
use lab_audit::{Raw, RawError};

/// `[[raw]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
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
