//! Rules that the repository keeps about itself.
//!
//! Every rule is a pure function from file contents to complaints, one sentence each, so that a
//! test can show it both content and discontent. `tests/repository.rs` applies them to the files.
//! This crate must never know another crate of ours: it reads them as text.

#![forbid(unsafe_code)]

pub mod arrows;
pub mod build_files;
pub mod environments;
pub mod flags;
pub mod packages;
pub mod pins;
pub mod protocol;
pub mod repository;
pub mod sizes;
pub mod supply;
pub mod text;
pub mod unsafety;
pub mod variants;
