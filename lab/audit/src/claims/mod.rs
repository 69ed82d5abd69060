//! What a document says, as data: one TOML file a document, its tables as CSV beside it.
//!
//! The format is described in `claims/README.md` of the repository. Everything a file holds comes
//! down to [`Statement`]s: a number (or a name) with the quantity that it is said of.

mod cell;
mod check;
mod derivation;
mod format;
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
