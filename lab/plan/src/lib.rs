//! Experiments and manifests in, an ordered list of runs out.
//!
//! Pure: text and values come in, values go out. This crate reads no file, knows no clock and
//! starts nothing; the same text and the same seed give the same plan on every machine.

pub mod agents;
mod cells;
mod draw;
mod experiment;
pub mod ledgers;
mod levels;
mod manifest;
pub mod offload;
mod order;
pub mod search;
pub mod workflow;

pub use cells::Cell;
pub use experiment::{Experiment, Profile, Section, Selection};
pub use manifest::Manifest;
pub use order::{Entrant, Plan, PlannedRun, Work, plan};

/// Where a run stands: everything its draws depend on.
pub(crate) struct Address<'a> {
    pub seed: u64,
    pub block: u32,
    pub order: u64,
    pub variant: &'a Entrant,
    pub cell: &'a Cell,
}

/// Why a plan could not be made. Every message names the file and the key.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The text is not what the file should hold.
    #[error("{file}: {message}")]
    Text {
        /// The file, as the caller named it.
        file: String,
        /// What is wrong, with the key and the line where the parser knows it.
        message: String,
    },
    /// The text is well formed and asks for something impossible.
    #[error("{file}: key `{key}`: {message}")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What is wrong and what to do.
        message: String,
    },
}

impl PlanError {
    fn text(file: &str, error: &toml::de::Error) -> Self {
        Self::Text { file: file.to_owned(), message: error.to_string().trim_end().to_owned() }
    }

    fn value(file: &str, key: &str, message: impl Into<String>) -> Self {
        Self::Value { file: file.to_owned(), key: key.to_owned(), message: message.into() }
    }
}
