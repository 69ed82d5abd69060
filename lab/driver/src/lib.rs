//! Runs a plan, one thing at a time, and records each run.
//!
//! It knows manifests and paths, never a particular variant. It computes no statistic.

#![forbid(unsafe_code)]

mod cards;
mod catalog;
mod corpora;
mod execute;
mod floor;
mod foreign;
mod gate;
mod given;
mod held;
mod hyperfine;
mod ingest;
mod kept;
mod neighbour;
mod paced;
mod package;
mod pinning;
pub mod plots;
pub mod probe;
mod progress;
mod recording;
mod repository;
mod resume;
mod rounds;
mod servers;
mod services;
mod startup;
mod sweep;
mod tools;
mod traces;
mod words;

pub use catalog::{Catalog, Program, families};
pub use corpora::copy_folder;
pub use gate::causes as noise_causes;
pub use given::check_servers;
pub use pinning::CPUS_MIN as PINNING_CPUS_MIN;
pub use progress::{Disturbance, Position, Progress};
pub use repository::git_state;
pub use rounds::RefereeOf;
pub use startup::STARTUP_ROUNDS;
pub use sweep::{Checked, Description, Sweep, SweepEnd, SweepOptions, Verified};
pub use tools::tool_version;

/// Why a sweep could not start or go on. Failures of variants and servers during a sweep are
/// records, not errors.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// Something the user gave is not usable; the sentence says what to do.
    #[error("{0}")]
    Input(String),
    /// A server that the user named cannot be used.
    #[error("{0}")]
    Server(String),
    /// The results folder belongs to something else.
    #[error("{0}")]
    Resume(String),
    /// A program or data changed amid the sweep: what comes after is of something else.
    #[error("{0}")]
    Changed(String),
    /// The results folder cannot be read or written.
    #[error(transparent)]
    Record(#[from] lab_record::RecordError),
    /// The lab's own server or another part of the lab failed.
    #[error("{0}")]
    Lab(String),
}
