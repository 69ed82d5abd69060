//! What the tests of this folder need: the variants' programs.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

mod programs;

pub use programs::{Finished, Manifest, Variant, ledgers_dir, run, variants};
