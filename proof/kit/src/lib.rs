//! What tests need and no program has.
//!
//! [`Attack`] books what was tried against the lab, [`world`] makes up sweeps that never ran, and
//! [`toys`] is a sixth family, which shows that no room but its own names one. [`programs`] finds
//! and runs the variants' programs for `tests/FAMILY.rs`, which link no variant and no kit.

#![forbid(unsafe_code)]

mod attacks;
pub mod engines;
pub mod programs;
pub mod runtimes;
#[path = "../../../lab/cli/src/new/family/toys.rs"]
pub mod toys;
pub mod workflows;
pub mod world;

pub use attacks::Attack;
