//! smol with a blocking job per file, the standard engine of the published benchmark: its executor
//! has one thread, and its blocking pool, which does all the work, up to 500.

#![forbid(unsafe_code)]

mod search;

use std::process::ExitCode;

use engines_kit::{Identity, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    if let Err(error) = engines_smol_pool::restart() {
        eprintln!("smol: cannot start over with a pool of the workload's size: {error}");
        return ExitCode::FAILURE;
    }
    variant_main(&IDENTITY, search::run)
}
