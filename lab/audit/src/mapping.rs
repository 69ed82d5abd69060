//! The mapping file: what columns mean where their names do not say it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Document, Raw, Table};

/// What a document's tables and its raw columns mean. Empty: everything is guessed from names.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Overrides for tables; the first that fits a table holds.
    #[serde(default, rename = "table")]
    pub tables: Vec<TableMapping>,
    /// What the raw files' columns are; the first that fits a file holds.
    #[serde(default)]
    pub raw: Vec<RawMapping>,
}

/// What one table means.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableMapping {
    /// The line of its header.
    pub line: Option<usize>,
    /// Words that stand in the headings above it, in any case.
    pub section: Option<String>,
    /// Leave it out of the audit.
    #[serde(default)]
    pub ignore: bool,
    /// Columns (or rows of a transposed table) by name: `mean`, `p95 of latency`, `run 3`,
    /// `ratio`, `ignore`, …
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// The raw column that its numbers are about.
    pub raw: Option<String>,
    /// Only raw rows with these values are in it.
    #[serde(default, rename = "where")]
    pub only: BTreeMap<String, String>,
}

/// What one raw file's columns are.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawMapping {
    /// The end of the file's name; all files where it is left out.
    pub file: Option<String>,
    /// Columns whose texts name what was measured; guessed where empty.
    #[serde(default)]
    pub subject: Vec<String>,
    /// The column that was measured, where tables do not say another.
    pub metric: Option<String>,
    /// How the document writes a raw file's texts.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
}

/// Why a text is no mapping.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{name} is no mapping: {reason}")]
pub struct MappingError {
    /// The file.
    name: String,
    /// Where and why.
    reason: String,
}

impl Mapping {
    /// Reads a mapping file.
    pub fn parse(name: &str, text: &str) -> Result<Self, MappingError> {
        toml::from_str(text).map_err(|error| MappingError {
            name: name.to_owned(),
            reason: error.to_string().trim().replace('\n', " "),
        })
    }

    /// What it says of a table.
    pub fn table(&self, line: usize, section: &str) -> Option<&TableMapping> {
        let section = section.to_lowercase();
        self.tables.iter().find(|table| {
            let words = table.section.as_ref().map(|words| words.to_lowercase());
            table.line.is_none_or(|at| at == line)
                && words.is_none_or(|words| section.contains(&words))
        })
    }

    /// What in it is about no table, no column and no raw file: a wrong name, most likely.
    pub fn unused(&self, document: &Document, raws: &[Raw]) -> Vec<String> {
        let mut unused = Vec::new();
        for mapping in &self.tables {
            let own = |table: &&Table| {
                self.table(table.line, &table.section()).is_some_and(|one| one == mapping)
            };
            let tables: Vec<&Table> = document.tables.iter().filter(own).collect();
            if tables.is_empty() {
                let line = mapping.line.map_or(String::new(), |line| format!(" with line {line}"));
                unused.push(format!("the mapping's table{line} fits no table"));
                continue;
            }
            for column in mapping.columns.keys() {
                let known = |table: &&Table| {
                    table.columns.contains(column) || table.row_names().contains(column)
                };
                if !tables.iter().any(known) {
                    unused.push(format!("the mapping's column `{column}` is in no such table"));
                }
            }
            let in_raw = |column: &&String| !raws.iter().any(|raw| raw.order.contains(column));
            for column in mapping.raw.iter().chain(mapping.only.keys()).filter(in_raw) {
                unused.push(format!("the mapping's raw column `{column}` is in no raw file"));
            }
        }
        unused
    }

    /// What it says of a raw file.
    pub fn raw(&self, name: &str) -> Option<&RawMapping> {
        self.raw.iter().find(|raw| raw.file.as_ref().is_none_or(|file| name.ends_with(file)))
    }
}
