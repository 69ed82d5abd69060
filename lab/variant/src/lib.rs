//! What the program of every variant does alike: who it is, how it is called, how it answers.
//!
//! A family's kit gives [`variant_main`] its name, how a workload is prepared and how it is
//! measured; everything a caller sees of the command line is here, so that five families keep one
//! contract. `lab-protocol` says what is written and read, this crate does it. It must never know a
//! family, a workload or a runtime, and it starts no thread.

mod caught;
mod clock;
mod entry;
mod identity;

pub use caught::{Failure, caught, panic_text};
pub use clock::{cpu_ns, now_ns};
pub use entry::{Door, Family, Numbers, variant_main};
pub use identity::Identity;
