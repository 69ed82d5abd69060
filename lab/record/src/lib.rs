//! The stored schema and its versions, and the reader and writer of a results folder.
//!
//! ```text
//! results/<utc>-<id>/
//!   run.json           written once, at the start: the question, the programs, the machine
//!   sessions.jsonl     a line at each start, resume and end
//!   runs.jsonl         a line per run, appended and synced after each
//!   windows.jsonl      a line per few seconds of runs: noise, for runs too short to be gated alone
//!   samples/<sha>.zst  the raw samples of a run, named by the sha256 of their bytes
//! ```
//!
//! Nothing is ever rewritten. A newer schema is refused for writing and read as far as it is known.
//! This crate knows no experiment, no statistics and no clock: callers pass every time in.

#![forbid(unsafe_code)]

mod bounded;
mod error;
mod expectation;
mod folder;
mod glance;
mod histogram;
mod redact;
mod rounds;
mod samples;
mod schema;
mod store;

pub use bounded::{Bounded, MOST_BYTES, limit_bytes};
pub use error::RecordError;
pub use expectation::{Expectation, ExpectationKind, OneOrMore, Quantity};
pub use folder::Folder;
pub use glance::{Rows, State};
pub use histogram::{HISTOGRAM_DIGITS, Histogram};
pub use rounds::{Question, Rounds};
pub use samples::{Column, Samples};
pub use schema::{
    Analysis, CardUse, Comparison, Contrast, GitState, Kept, Machine, Noise, Pairing, Run, RunFile,
    Scale, Session, SessionEvent, Spread, Status, VariantEntry, Verification, Window,
};
pub use store::{Results, Writer, sha256_hex, sha256_of_file};

/// The version of the stored schema that this crate writes.
pub const SCHEMA: u32 = 2;
