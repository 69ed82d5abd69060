//! What the tests of this folder need: the variants' programs.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

pub use lab_programs::{Finished, Manifest, Variant, run};

/// Every variant of the family, by name.
///
/// # Panics
/// When a manifest cannot be read or a program was not built.
pub fn variants() -> Vec<Variant> {
    lab_programs::variants("schedulers")
}

/// The family's folder.
///
/// # Panics
/// When neither Cargo nor Bazel started this program and `LAB_ROOT` is not set.
pub fn schedulers_dir() -> std::path::PathBuf {
    lab_programs::family_dir("schedulers")
}
