//! `smol` with jemalloc for its memory, and nothing else changed.

#![forbid(unsafe_code)]

// The same lines as there, so that the allocator is all that differs.
#[path = "../../../smol/src/search.rs"]
mod search;

use std::process::ExitCode;

use engines_kit::{Identity, variant_main};
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

const IDENTITY: Identity = Identity::of(include_str!("../../../smol_jemalloc/variant.toml"));

fn main() -> ExitCode {
    if let Err(error) = engines_smol_pool::restart() {
        eprintln!("smol_jemalloc: cannot start over with a pool of the workload's size: {error}");
        return ExitCode::FAILURE;
    }
    variant_main(&IDENTITY, search::run)
}
