//! The only crate that starts processes.
