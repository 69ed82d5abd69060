//! What the tests of this folder need: the variants' programs, and a server that follows a script.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

mod server;

pub use crate::programs::*;
pub use server::{PADDING, Script, Server, answer_text, reply_text};

/// The family's folder.
pub const FAMILY: &str = "runtimes";
