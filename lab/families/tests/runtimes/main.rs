//! Plans and reports of the `runtimes` family.

mod answers;
mod chaos;
mod plan;
mod questions;
mod report;
mod sweep;
mod tables;
