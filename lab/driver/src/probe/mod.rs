//! What machine this is, how noisy it is, and what its floors are.
//!
//! Reads `/proc` and `/sys` and times a few system calls. It decides nothing, and what a machine
//! does not tell is `None` here, never a guess.

mod cards;
mod floors;
mod gpu;
mod machine;
mod noise;
mod pilot;
mod processes;

pub use cards::{CARD_LOOP, CARD_QUERY, CardSample, card_samples, card_uses};
pub use floors::{Floors, measure_floors};
pub use gpu::{GpuPart, gpu_parts};
pub use machine::{environment, load_1min, machine};
pub use noise::{Snapshot, between};
pub use pilot::equal_pairs;
pub use processes::cpu_ns_below;
