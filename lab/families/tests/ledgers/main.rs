//! Plans and reports of the `ledgers` family.

mod advice;
mod memory;
mod over;
mod plan;
mod report;
mod steals;
mod sweep;
