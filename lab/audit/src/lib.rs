//! Published tables, raw runs and claims in; contradictions out.
//!
//! Pure: text comes in, findings go out. This crate reads no file, knows no clock and starts
//! nothing; the same bytes give the same findings on every machine.

pub mod automatic;
pub mod checks;
pub mod claims;
pub mod declared;
pub mod document;
pub mod facts;
pub mod finding;
pub mod mapping;
pub mod printed;
pub mod raw;
pub mod trial;

pub use automatic::audit_document;
pub use document::{Bound, Cell, Document, Sentence, SentenceKind, Table, TableRow};
pub use finding::{Finding, Place, Severity};
pub use mapping::{Mapping, MappingError};
pub use printed::Printed;
pub use raw::{Raw, RawError, Value};
