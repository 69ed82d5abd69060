//! Records on disk: read, bound to their reports, held against each other, and served.
//!
//! The one room of this crate that is not pure.

pub mod against;
pub mod bound;
pub mod load;
pub mod over;
pub mod runs;
pub mod serve;
pub mod source;
pub mod tables;
