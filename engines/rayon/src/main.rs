//! Rayon: a parallel iterator over chunks of files, on a work-stealing pool.

mod search;

use std::process::ExitCode;

use engines_kit::{Identity, variant_main};

const IDENTITY: Identity =
    Identity { variant: "rayon", measures: "rayon", version: "1.12.0", features: &[] };

fn main() -> ExitCode {
    variant_main(&IDENTITY, search::run)
}
