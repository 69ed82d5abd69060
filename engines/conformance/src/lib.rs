//! What the tests of this folder need: the engines' programs, a hostile corpus, and the plainest
//! search there could be.
//!
//! It knows engines only as folders with a `variant.toml` and as programs; it links none of them,
//! nor their kit.

mod corpus;
mod oracle;

pub use corpus::Corpus;
pub use lab_programs::{Finished, Manifest, Variant, run, skipped};
pub use oracle::{Found, Wanted, search};

/// Every variant of the family, by name.
///
/// # Panics
/// When a manifest cannot be read or a program was not built.
pub fn variants() -> Vec<Variant> {
    lab_programs::variants("engines")
}

/// The family's folder.
///
/// # Panics
/// When neither Cargo nor Bazel started this program and `LAB_ROOT` is not set.
pub fn engines_dir() -> std::path::PathBuf {
    lab_programs::family_dir("engines")
}

/// Those that answer with lines. A peer is somebody else's program and has a count only.
///
/// # Panics
/// As [`variants`].
pub fn engines() -> Vec<Variant> {
    variants().into_iter().filter(|variant| !is_peer(variant)).collect()
}

/// Whether a variant asks somebody else's program.
pub fn is_peer(variant: &Variant) -> bool {
    variant.manifest.tags.iter().any(|tag| tag == "peer")
}
