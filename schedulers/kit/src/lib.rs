//! What the schedulers family shares: one interface of a policy, and the four tests over it.
//!
//! A variant is a [`Policy`]: it says where a piece of work runs and is told what that cost. This
//! crate asks every policy the same questions, does the work, keeps the time, and writes the
//! outcome; the entry is [`variant_main`]. It knows no policy.

#![forbid(unsafe_code)]

mod bench;
mod check;
mod clock;
mod decide;
mod entry;
mod load;
mod map;
mod measure;
mod pins;
mod policy;
mod pressure;
mod replay;
mod stream;
mod ticks;
mod wake;
mod work;

pub use bench::Bench;
pub use entry::variant_main;
pub use lab_protocol::schedulers::{
    Decide, Load, Part, Replay, Stream, Test, Wake, Workload, stream_answer,
};
pub use lab_variant::{Identity, RunError};
pub use map::{Done, Item};
pub use measure::{Measured, measure};
pub use policy::{Arm, Ask, Cost, Policy, Setup, Truth};
