//! What a document says, as data: one TOML file a document, its tables as CSV beside it.
//!
//! The format is described in `claims/README.md` of the repository. Everything a file holds comes
//! down to [`Statement`]s: a number (or a name) with the quantity that it is said of.

mod cell;
mod check;
mod format;
mod parse;
mod statement;

pub use cell::CellValue;
pub use check::{Evidence, Standing};
pub use format::{
    Against, Better, Claim, Claims, Comparator, Derive, DocumentInfo, Expect, Factor, Kind, Level,
    Metric, MetricRange, OneOrMore, Part, RawInfo, Relation, Runs, Scope, Subject, TableInfo, Test,
    Treatment,
};
pub use parse::ClaimsError;
pub(crate) use parse::Names;
pub use statement::{Key, Statement, StatementValue};
