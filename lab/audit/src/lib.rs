//! Published tables and raw runs in; contradictions out.
//!
//! Pure: text comes in, findings go out. This crate reads no file, knows no clock and starts
//! nothing; the same bytes give the same findings on every machine.

#![forbid(unsafe_code)]

mod automatic;
mod catalogue;
pub mod checks;
pub mod document;
mod expression;
pub mod finding;
pub mod mapping;
pub mod output;
pub mod printed;
pub mod raw;
pub mod suppress;

pub use automatic::{Audit, Coverage, audit_document};
pub use catalogue::{CHECKS, Check};
pub use document::{
    Bound, Cell, DecodeError, Document, Sentence, SentenceKind, Table, TableRow, decode,
};
pub use expression::{Expression, Operation};
pub use finding::{Finding, Place, Severity};
pub use mapping::{Mapping, MappingError};
pub use printed::Printed;
pub use raw::{Raw, RawError, Value};

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    use std::fmt::Write;
    let mut text = String::new();
    for byte in sha2::Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
