//! What the tests of this folder need: the variants' programs.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

#![forbid(unsafe_code)]

pub use lab_programs::*;

/// The family's folder.
pub const FAMILY: &str = "ledgers";
