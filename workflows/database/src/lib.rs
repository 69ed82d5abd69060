//! A PostgreSQL server of a run's own, for the back ends that keep their state in one; and the
//! tables that our own orchestrators share: the workload, its shape, and steps with their times.

mod programs;
mod rows;
mod server;
mod setup;

pub use rows::{Known, read};
pub use server::{Handle, Server, lost, said};
pub use setup::prepare;
