//! What the ledgers family shares: transactions, accounts and records, and the measured loop.
//!
//! A variant is a [`Variant`]: a store, a runtime that it builds once, and a way to bring streams
//! to the store. This crate draws the streams, repeats, times, counts, compares each answer with
//! the sequential oracle's and writes the outcome; the entry is [`variant_main`]. Every variant
//! calls the same [`apply`] on its own [`Store`], so that they differ in locks and threads alone.
//! It starts no thread and must never know a runtime.

#![forbid(unsafe_code)]

mod answer;
mod check;
mod costs;
mod dash;
mod draw;
mod entry;
mod jobs;
mod ledger;
mod measure;
mod plain;
mod waits;
mod work;

pub use answer::Answer;
pub use check::without_locks;
pub use dash::{Dash, dash_shards, default_shards};
pub use draw::{Drawn, Kind, Streams, Transaction};
pub use entry::variant_main;
pub use jobs::{Pins, deal, jobs};
pub use lab_protocol::ledgers::{Contention, Data, Kinds, Spawn, Workers, Workload};
pub use lab_variant::{Identity, RunError, now_ns};
pub use ledger::{Account, FILLER, Hasher, Map, Record, State, Store, apply, apply_all};
pub use measure::Variant;
pub use plain::Plain;
pub use waits::{LockWaits, wait};
pub use work::Work;
