//! Why a results folder cannot be read or written.

use std::{io, path::PathBuf};

use crate::SCHEMA;

/// Why a results folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file operation failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A path that is no results folder.
    #[error("{path} is no results folder: {why}; give a folder of results/ or reports/")]
    NoResults {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        why: &'static str,
    },
    /// A line or file is not what the schema says.
    #[error("{path}, line {line}: {message}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A line that does not belong to the record as it was written.
    #[error("{path}, line {line}: {what}; the record was changed after it was written")]
    Changed {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// What does not agree.
        what: String,
    },
    /// A file that does not agree with itself or with the record.
    #[error("{path}: {what}")]
    Unlike {
        /// The file.
        path: PathBuf,
        /// What does not agree.
        what: String,
    },
    /// A record whose expectations were declared before its runs.
    #[error(
        "{path}: its expectations were declared before its runs, and stay as they are; \
         nothing was written"
    )]
    Declared {
        /// The folder.
        path: PathBuf,
    },
    /// The folder was written by a newer lab.
    #[error(
        "{path} has schema {found}, this lab writes {SCHEMA}; use a newer lab or start a new sweep"
    )]
    Newer {
        /// The folder.
        path: PathBuf,
        /// Its schema.
        found: u32,
    },
    /// Another process appends to the folder.
    #[error("{path} is in use by another lab; wait until it ends, or stop it")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A run names samples that the folder does not have.
    #[error(
        "{path}: run {order} names the samples {name}, which are not in the folder; \
         the line or the folder was changed"
    )]
    NoSamples {
        /// The file of the runs.
        path: PathBuf,
        /// The run's place in the order of the sweep.
        order: u64,
        /// sha256 of the samples, in hexadecimal.
        name: String,
    },
    /// Samples whose bytes do not hash to their name.
    #[error(
        "{path}: the samples do not match the sha256 in their name; the file was changed or cut"
    )]
    Hash {
        /// The file.
        path: PathBuf,
    },
}
