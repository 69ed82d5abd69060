//! What the tests of this folder need: the engines' programs, a hostile corpus, and the plainest
//! search there could be.
//!
//! It knows engines only as folders with a `variant.toml` and as programs; it links none of them,
//! nor their kit.

mod corpus;
mod oracle;

pub use crate::programs::*;
pub use corpus::Corpus;
pub use oracle::{Found, Wanted, search};

/// The family's folder.
pub const FAMILY: &str = "engines";

/// Those that answer with lines. A peer is somebody else's program and has a count only.
///
/// # Panics
/// As [`variants`].
pub fn engines() -> Vec<Variant> {
    variants(FAMILY).into_iter().filter(|variant| !variant.is("peer")).collect()
}
