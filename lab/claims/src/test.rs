//! How a claim is tested by our own reports.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::OneOrMore;

/// `[[claim.test]]`: rows of a committed table, and what they must show.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
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
