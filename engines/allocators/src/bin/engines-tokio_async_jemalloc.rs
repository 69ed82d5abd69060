//! `tokio_async` with jemalloc for its memory, and nothing else changed.

#![forbid(unsafe_code)]

// The same lines as there, so that the allocator is all that differs.
#[path = "../../../tokio_async/src/search.rs"]
mod search;

use std::process::ExitCode;

use engines_kit::{Identity, variant_main};
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

const IDENTITY: Identity = Identity::of(include_str!("../../../tokio_async_jemalloc/variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, search::run)
}
