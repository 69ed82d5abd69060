//! The paced Ollama server: truth with a time stamp in every token.
//!
//! It answers as an Ollama server does, but its tokens leave on a schedule that was drawn from the
//! request's seed, kept by a thread of its own, and each carries the `CLOCK_MONOTONIC` time just
//! before it was written (`sent_ns`). So what a client adds can be told from what the server did.
//!
//! This crate knows nothing else of the lab: clients and the driver talk to it over sockets and a
//! pipe (see [`serve`]).

#![forbid(unsafe_code)]

mod args;
mod arrival;
mod ask;
mod check;
mod clock;
mod connection;
mod faults;
mod heard;
mod http;
mod ledger;
mod limits;
mod line;
mod measure;
mod pacer;
mod record;
pub mod schedule;
mod served;
mod server;
mod spec;
mod spin;
mod stream;
pub mod text;
mod trace;
mod wire;

pub use args::{Action, CalibrateArgs, ControlInput, SimArgs, run};
pub use faults::{Fault, FaultKind};
pub use ledger::{CallRecord, Ledger, NEVER};
pub use measure::{Load, Measurement, measure};
pub use record::RecordArgs;
pub use served::{Reply, Served, Spread, timings};
pub use server::{Server, serve};
pub use spec::{LogNormalMs, Mode, ServerSpec};
pub use trace::{TracedReply, TracedStep};
