//! What the workflows family shares: the state of a task, the client's loop, and the columns of a
//! run.
//!
//! A variant is a [`BackEnd`]: it takes tasks over, has workers do their steps, and tells when a
//! task is complete. This crate hands the tasks in, waits or looks, stamps, and writes the outcome;
//! the entry is [`variant_main`]. What may be done next is decided by [`Task`], which does no input
//! or output; [`Pool`] runs it with worker threads for back ends whose state lives in this process.
//! Who computes a step, a thread or a process in some language, is behind [`Computer`].
//! It must never know a disk or a database.

#![forbid(unsafe_code)]

mod board;
mod check;
mod client;
mod columns;
mod computer;
mod costs;
mod entry;
mod graph;
mod keep;
mod log;
mod pool;
mod process;
mod task;

pub use check::run_folder;
pub use client::{BackEnd, Counters};
pub use columns::StepRow;
pub use computer::{Computer, Done, language};
pub use entry::variant_main;
pub use graph::Graph;
pub use keep::{Keepable, Keeps, keep_up};
pub use lab_protocol::workflows::{Beside, Operation, Shape, Wire, Worker, Workload};
pub use lab_variant::{Identity, RunError, caught, now_ns};
pub use log::{Accepted, Log, Submission, Transition};
pub use pool::{BeforeStep, Pool};
pub use process::Process;
pub use task::{Job, MAX_PARTS, Progress, Refused, StepId, Task};
