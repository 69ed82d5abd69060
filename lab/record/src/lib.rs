//! The stored schema and its versions, and the reader and writer of a results folder.
//!
//! ```text
//! results/<utc>-<id>/
//!   run.json           written once, at the start: the question, the programs, the machine
//!   sessions.jsonl     a line at each start, resume and end
//!   runs.jsonl         a line per run, appended and synced after each
//!   windows.jsonl      a line per few seconds of runs: noise, for runs too short to be gated alone
//!   samples/<sha>.zst  the raw samples of a run, named by the sha256 of their bytes
//!   manifest.json      what lab report and lab export wrote beside them, by name and sha256
//! ```
//!
//! An export has all samples in `samples.pack.zst`, and many rows in `rows.pack.zst`.
//!
//! Nothing is ever rewritten. `run.json` and each row end in a `chain` that follows from all before
//! it. A newer schema is refused for writing and read as far as it is known.
//! This crate knows no experiment, no statistics and no clock: callers pass every time in.

#![forbid(unsafe_code)]

mod append;
mod bounded;
mod chain;
mod distinct;
mod error;
mod expectation;
mod export;
mod folder;
mod glance;
mod hash;
mod histogram;
mod inflate;
mod laws;
mod lines;
mod manifest;
mod pack;
mod redact;
mod rounds;
mod rows;
mod samples;
mod schema;
mod session;
mod store;
mod writer;

pub use append::{Lock, whole_lines};
pub use bounded::{Bounded, MOST_BYTES, limit_bytes};
pub use chain::{Head, Heads};
pub use error::RecordError;
pub use expectation::{Expectation, ExpectationKind, OneOrMore, Quantity};
pub use folder::Folder;
pub use glance::{Rows, State};
pub use hash::{sha256_hex, sha256_of_file};
pub use histogram::{HISTOGRAM_DIGITS, Histogram};
pub use manifest::Manifest;
pub use rounds::{Question, Rounds};
pub use samples::{Column, Samples};
pub use schema::{
    Analysis, CardUse, Comparison, Contrast, GitState, Kept, Machine, Noise, Pairing, Run, RunFile,
    Scale, Session, SessionEvent, Spread, Status, VariantEntry, Verification, Window,
};
pub use session::{Nuisance, SessionOf, Sessions};
pub use store::Results;
pub use writer::Writer;

/// The version of the stored schema that this crate writes.
pub const SCHEMA: u32 = 2;
