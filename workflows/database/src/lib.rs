//! A PostgreSQL server of a run's own, or a database of its own in one that is kept up, for the
//! back ends that keep their state there; and the tables that our own orchestrators share: the
//! workload, its shape, and steps with their times.

#![forbid(unsafe_code)]

mod ask;
mod counts;
mod kept;
mod programs;
mod rows;
mod server;
mod session;
mod setup;

pub use ask::ask;
pub use counts::{Counts, named};
pub use kept::POSTGRESQL;
pub use rows::{Known, read};
pub use server::{Handle, Server, lost, said};
pub use session::{Answer, ENVIRONMENT, Session};
pub use setup::prepare;
