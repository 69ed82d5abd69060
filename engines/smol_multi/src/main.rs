//! The published benchmark's multi-threaded smol: an executor that N threads run, a semaphore of
//! 2 N files, and the same blocking job per file as in `smol`.

#![forbid(unsafe_code)]

mod search;

use std::process::ExitCode;

use engines_kit::{Identity, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    if let Err(error) = engines_smol_pool::restart() {
        eprintln!("smol_multi: cannot start over with a pool of the workload's size: {error}");
        return ExitCode::FAILURE;
    }
    variant_main(&IDENTITY, search::run)
}
