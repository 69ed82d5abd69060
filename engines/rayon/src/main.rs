//! Rayon: a parallel iterator over chunks of files, on a work-stealing pool.

#![forbid(unsafe_code)]

mod search;

use std::process::ExitCode;

use engines_kit::{Identity, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, search::run)
}
