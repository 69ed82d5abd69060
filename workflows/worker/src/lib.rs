//! A worker outside the back end's process: it is handed steps through a pipe and gives values.
//!
//! One [`Worker`] serves all paths to it, so that two of them differ in one thing. The program
//! `workflows-worker` computes in Rust; a program in another language loads this crate as a library
//! and computes itself, through the C interface in [`boundary`] (`include/workflows_worker.h`); or
//! it speaks [`frame`] without any of this. The programs of the last two kinds are [`hosts`].
//!
//! It must never know a back end, nor what a task is.

pub mod boundary;
pub mod frame;
pub mod hosts;
mod worker;

pub use frame::{Answer, Hello, Step};
pub use worker::Worker;
