//! What the program of every variant does alike: who it is, how it is called, how it answers.
//!
//! A family's kit says how a workload is prepared and how it is measured; everything a caller sees
//! of the command line is in [`variant_main`], so that five families keep one contract.
//! `lab-protocol` says what is written and read, this crate does it. It must never know a family, a
//! workload or a runtime, and it starts no thread.

#![forbid(unsafe_code)]

mod clock;
mod entry;
mod error;
mod identity;
mod usage;

pub use clock::{cpu_ns, now_ns, thread_cpu_ns};
pub use entry::{Numbers, at_least_one, variant_main};
pub use error::{RunError, caught};
pub use identity::Identity;
pub use usage::{high_water_bytes, kernel_number, usage, usage_of_children};
