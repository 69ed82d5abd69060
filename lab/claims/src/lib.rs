//! What published documents say, as data, held against their own numbers and their raw data.
//!
//! A document is one TOML file, its tables as CSV beside it; `claims/README.md` of the repository
//! describes the format. Everything a file holds comes down to [`Statement`]s: a number (or a name)
//! with the quantity that it is said of. Pure: text comes in, findings and pages go out.

#![forbid(unsafe_code)]

mod cell;
mod check;
pub mod declared;
mod derivation;
pub mod facts;
mod format;
pub mod join;
pub mod page;
mod parse;
mod statement;
mod test;

pub use cell::CellValue;
pub use check::{Evidence, Standing};
pub use derivation::{Derive, Kind, OneOrMore, RawInfo, Relation};
pub use format::{
    Against, Better, Claim, Claims, Comparator, Differs, DocumentInfo, Factor, Level, Metric,
    MetricRange, Part, Runs, Scope, Subject, TableInfo, Treatment,
};
pub use parse::ClaimsError;
pub(crate) use parse::Names;
pub use statement::{Key, Statement, StatementValue};
pub use test::{Expect, Test};
