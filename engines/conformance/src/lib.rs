//! What the tests of this folder need: the engines' programs, a hostile corpus, and the plainest
//! search there could be.
//!
//! It knows engines only as folders with a `variant.toml` and as programs; it links none of them,
//! nor their kit.

mod corpus;
mod oracle;
mod programs;

pub use corpus::Corpus;
pub use oracle::{Found, Wanted, search};
pub use programs::{Finished, Manifest, Variant, engines, engines_dir, run, variants};
