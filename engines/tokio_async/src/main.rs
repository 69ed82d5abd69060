//! Tokio with its own files: a task per file awaits piece after piece and searches each where it
//! runs, on a worker of the runtime.

#![forbid(unsafe_code)]

mod search;

use std::process::ExitCode;

use engines_kit::{Identity, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, search::run)
}
