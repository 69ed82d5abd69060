//! Raw runs as columns.

mod delimited;
mod json;
mod table;
mod tools;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::Document;
use crate::document::header;
use crate::printed::unit;

/// Raw rows of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Raw {
    /// As the caller named it.
    pub name: String,
    /// How many rows; every column has as many values.
    pub rows: usize,
    /// Values by column, in the order of the file.
    pub columns: BTreeMap<String, Vec<Value>>,
    /// The columns' names in the order of the file.
    pub order: Vec<String>,
    /// The page with its tables, where the file is Markdown; it then has no columns of runs.
    pub page: Option<Document>,
}

/// A raw value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything else.
    Text(String),
    /// Not there.
    Missing,
}

/// Why a text is no raw data.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RawError {
    /// Nothing in it.
    #[error("{name} is empty: give a CSV, JSON or JSON Lines file with one row a run")]
    Empty {
        /// The file.
        name: String,
    },
    /// Starts like JSON and is none.
    #[error("{name} is not valid JSON: {reason}")]
    Json {
        /// The file.
        name: String,
        /// Where and why.
        reason: String,
    },
    /// JSON without rows in it.
    #[error(
        "{name} holds no rows: expected an array of objects, an object with `results`, \
         JSON Lines, or Criterion's `iters` and `times`"
    )]
    Shape {
        /// The file.
        name: String,
    },
    /// A header and nothing below it.
    #[error("{name} has a header and no rows")]
    NoRows {
        /// The file.
        name: String,
    },
    /// Text without columns in it.
    #[error("{name} is no table: found neither a delimiter (, ; tab |) nor numbers")]
    Columns {
        /// The file.
        name: String,
    },
    /// Not readable as CSV.
    #[error("{name} is not valid CSV: {reason}")]
    Csv {
        /// The file.
        name: String,
        /// Where and why.
        reason: String,
    },
    /// Rows that share hardly any column.
    #[error("{name} has {rows} rows and {columns} columns, more than an audit can hold")]
    Size {
        /// The file.
        name: String,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
}

impl Raw {
    /// Reads raw runs: CSV (also with `;`, tab or `|`), a JSON array of objects, an object with
    /// such an array (`results`, …), JSON Lines, hyperfine's and Criterion's exports. Where rows
    /// hold arrays of repeats (hyperfine's `times`), this is the table of the repeats: one row a
    /// repeat, with the row's texts beside it and its position as `run`.
    pub fn parse(name: &str, text: &str) -> Result<Self, RawError> {
        let mut tables = Self::tables(name, text)?;
        Ok(tables.swap_remove(0))
    }

    /// As [`Raw::parse`]; behind the repeats stands the table of the rows that held them, which
    /// has the summaries that the tool computed itself (hyperfine's `mean`, `stddev`, …).
    pub fn tables(name: &str, text: &str) -> Result<Vec<Self>, RawError> {
        if let Some(page) = page(name, text) {
            let rows = page.tables.iter().map(|table| table.rows.len()).sum();
            let name = name.to_owned();
            return Ok(vec![Self { name, rows, page: Some(page), ..Self::default() }]);
        }
        let trimmed = text.trim_start_matches('\u{feff}').trim();
        if let Some(tables) = tools::read(name, trimmed)? {
            return Ok(tables);
        }
        match trimmed.chars().next() {
            None => Err(RawError::Empty { name: name.to_owned() }),
            Some('{' | '[') => json::read(name, trimmed),
            Some(_) => Ok(vec![delimited::read(name, trimmed)?]),
        }
    }

    /// A column's numbers with their row indices; empty where there is no such column.
    pub fn numbers(&self, column: &str) -> Vec<(usize, f64)> {
        let number = |(row, value): (usize, &Value)| match value {
            Value::Number(number) => Some((row, *number)),
            _ => None,
        };
        self.values(column).iter().enumerate().filter_map(number).collect()
    }

    /// The unit of a column: by its name, or in an export of hyperfine, whose times are seconds.
    pub(crate) fn unit(&self, column: &str) -> Option<String> {
        const TIMES: [&str; 6] = ["time", "mean", "stddev", "median", "min", "max"];
        let has = |name: &str| self.columns.contains_key(name);
        let hyperfine = has("command") && (has("time") || has("mean") && has("system"));
        if hyperfine && TIMES.contains(&column) {
            return Some("s".to_owned());
        }
        let named = || unit::known(column).filter(|unit| unit.len() > 1);
        header::unit(column).or_else(named)
    }

    /// A column's values; empty where there is no such column.
    pub fn values(&self, column: &str) -> &[Value] {
        self.columns.get(column).map_or(&[], Vec::as_slice)
    }
}

/// A text with tables of Markdown, read as such.
fn page(name: &str, text: &str) -> Option<Document> {
    let ruled = |line: &str| {
        let line = line.trim();
        line.contains("--") && line.contains('|') && line.chars().all(|c| "|-: ".contains(c))
    };
    let page = text.lines().any(ruled).then(|| Document::parse(name, text))?;
    (!page.tables.is_empty()).then_some(page)
}

impl Value {
    /// The text of a text, the shortest decimal of a number, nothing of what is missing.
    pub fn label(&self) -> Option<String> {
        self.shown().map(Cow::into_owned)
    }

    /// The same without a copy of a text.
    pub(crate) fn shown(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Missing => None,
        }
    }

    /// Reads a text as it stands in a file.
    fn read(text: &str) -> Self {
        let text = text.trim();
        let missing = ["", "na", "n/a", "nan", "null", "none", "-"];
        if text.len() <= 4 && missing.iter().any(|known| text.eq_ignore_ascii_case(known)) {
            return Self::Missing;
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Self::Number(number),
            _ => Self::Text(text.to_owned()),
        }
    }
}
