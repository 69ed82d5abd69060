//! What the variants over plain sockets share, so that they differ in their runtime alone: one
//! agent's connection, with the kit's HTTP on it. It must never know a runtime.
//!
//! A runtime is a [`Transport`]: it connects, writes, reads and waits. [`Connection`] does the
//! rest: it sends again what went to a connection that the server had closed, and gives a server
//! up that is silent for too long ([`Silence`]).

#![forbid(unsafe_code)]

mod connection;
mod silence;
mod transport;

pub use connection::Connection;
pub use silence::Silence;
pub use transport::Transport;
