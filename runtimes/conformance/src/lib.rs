//! What the tests of this folder need: the variants' programs, and a server that follows a script.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

mod programs;
mod server;

pub use programs::{Finished, Manifest, Variant, run, runtimes_dir, variants};
pub use server::{Script, Server, reply_text};
