//! A PostgreSQL server of a run's own, for the back ends that keep their state in one.

mod programs;
mod server;

pub use server::{Door, Server, said};
