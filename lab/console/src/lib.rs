//! What all commands of `lab` have in common: the exit codes, failures with their sentences, what
//! is printed, and Ctrl-C.

#![forbid(unsafe_code)]

mod duration;
mod exit;
mod failure;
mod interrupt;
pub mod plain;
pub mod streams;

pub use duration::seconds_text;
pub use exit::{Exit, exit_codes};
pub use failure::{Failure, write};
pub use interrupt::interruption;
