//! What is looked for: an expression over a message's text, and filters over its other fields.
//!
//! ```text
//! query  = or                      an empty query holds for every message
//! or     = and { "OR" and }
//! and    = not { ["AND"] not }     words side by side must all be there
//! not    = "NOT" not | term
//! term   = "(" or ")" | word | "…" | '…' | /regex/flags
//! ```
//!
//! A word ends at white space or a parenthesis. In quotes, `\` takes the next character as it is;
//! in a regex, `\/` is a slash. Flags are `i`, `m`, `s`, `u` (always on). Operators are upper case.

mod expr;
mod manner;
mod parse;

use std::fmt;

use crate::parse::Message;
use crate::{Time, Wanted};
pub(crate) use expr::{Expr, stands_for_itself};
pub(crate) use manner::{Case, Manner};

/// A compiled query.
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) expr: Expr,
    /// Only messages of one of these; of any where there is none.
    pub(crate) roles: Vec<String>,
    pub(crate) sessions: Vec<String>,
    pub(crate) project: Option<String>,
    pub(crate) window: Window,
}

/// The times that are asked for; an absent end is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) after: Option<Time>,
    pub(crate) before: Option<Time>,
}

impl Window {
    /// Whether any time will do, also none.
    pub(crate) fn is_open(&self) -> bool {
        self.after.is_none() && self.before.is_none()
    }

    pub(crate) fn holds(&self, time: Time) -> bool {
        self.after.is_none_or(|after| time >= after)
            && self.before.is_none_or(|before| time < before)
    }
}

/// Why a query is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The text; the message names its column.
    #[error("column {column}: {message}")]
    Text {
        /// In characters, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A time of a filter.
    #[error("`{filter}` is no RFC 3339 time: {value}; write it as 2026-01-31T12:00:00Z")]
    Time {
        /// `after` or `before`.
        filter: &'static str,
        /// What it says.
        value: String,
    },
}

impl QueryError {
    /// The error, and below it the query with a mark where it goes wrong.
    pub(crate) fn pointing_at(&self, text: &str) -> String {
        match self {
            Self::Text { column, .. } => {
                let before = " ".repeat(column - 1);
                format!("{self}\n  {}\n  {before}^", text.replace(['\n', '\t'], " "))
            }
            Self::Time { .. } => self.to_string(),
        }
    }
}

impl Query {
    /// Compiles the query of a workload.
    ///
    /// # Errors
    /// The column of the text where it is wrong, or the filter whose time is none.
    pub fn compile(query: &Wanted) -> Result<Self, QueryError> {
        let time = |filter, value: &Option<String>| match value {
            None => Ok(None),
            Some(value) => {
                let wrong = || QueryError::Time { filter, value: value.clone() };
                Time::parse(value).ok_or_else(wrong).map(Some)
            }
        };
        let case = if query.case_sensitive { Case::Exact } else { Case::Own };
        Ok(Self {
            expr: Expr::read(&query.text, Manner { case, ..Manner::default() })?,
            roles: query.role.iter().cloned().collect(),
            sessions: query.session.iter().cloned().collect(),
            project: query.project.as_deref().map(folder),
            window: Window {
                after: time("after", &query.after)?,
                before: time("before", &query.before)?,
            },
        })
    }

    /// Whether a message is looked for.
    pub(crate) fn matches(&self, message: &mut Message<'_>) -> bool {
        is_one_of(&self.roles, message.role.or(message.kind))
            && is_one_of(&self.sessions, message.session)
            && self.project.as_deref().is_none_or(|project| below(project, message.cwd))
            && (self.window.is_open() || message.time().is_some_and(|time| self.window.holds(time)))
            && self.expr.holds(&mut message.text)
    }
}

fn is_one_of(wanted: &[String], found: Option<&str>) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| found == Some(one))
}

/// A folder's path without a slash at its end.
pub(crate) fn folder(path: &str) -> String {
    path.trim_end_matches('/').to_owned()
}

/// Whether `cwd` is the folder `project`, which has no slash at its end, or lies in it.
fn below(project: &str, cwd: Option<&str>) -> bool {
    let rest = cwd.and_then(|cwd| cwd.strip_prefix(project));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}
