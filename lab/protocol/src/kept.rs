//! Servers that are kept up over the runs of a sweep.
//!
//! A variant that names a server under `keep_up` in its `variant.toml` finds [`variable`] of that
//! name in its environment where the server is up. The value says where, in words that only the
//! variants of the family understand. The run has the server for itself: it makes what it needs
//! there before it measures, and takes away what an earlier run has left. Without the variable the
//! variant starts a server of the run's own and ends it with the run.
//!
//! Called with [`ARGUMENT`] and the name, in an empty folder, its program starts the server there,
//! writes the value as one line to standard output, and lives until its standard input ends: then
//! it ends the server. Where there is no server, or no longer one, it ends with
//! [`crate::exit::FAILED`] and a sentence on standard error.

/// The first of two arguments; the name of the server is the second.
pub const ARGUMENT: &str = "--keep-up";

/// The variable of a name in lower-case letters, digits and `_`.
pub fn variable(name: &str) -> String {
    format!("LAB_KEPT_{}", name.to_ascii_uppercase())
}
