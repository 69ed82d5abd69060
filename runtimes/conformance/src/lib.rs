//! What the tests of this folder need: the variants' programs, and a server that follows a script.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

mod server;

pub use lab_programs::{Finished, Manifest, Variant, run};
pub use server::{Script, Server, reply_text};

/// Every variant of the family, by name.
///
/// # Panics
/// When a manifest cannot be read or a program was not built.
pub fn variants() -> Vec<Variant> {
    lab_programs::variants("runtimes")
}

/// The family's folder.
///
/// # Panics
/// When neither Cargo nor Bazel started this program and `LAB_ROOT` is not set.
pub fn runtimes_dir() -> std::path::PathBuf {
    lab_programs::family_dir("runtimes")
}
