//! The floor: everything runs on the asynchronous worker, and nothing is decided. A decision costs
//! at least what this costs; what work keeps a worker from, it keeps it from here.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use schedulers_kit::{Arm, Ask, Cost, Identity, Policy, RunError, Setup, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<AlwaysInline>(&IDENTITY)
}

struct AlwaysInline;

impl Policy for AlwaysInline {
    type Asked = ();
    type Pending = ();

    fn new(_: &Setup) -> Result<Self, RunError> {
        Ok(Self)
    }

    fn ask(_: &Ask) {}

    fn choose(&self, (): &()) -> (Arm, ()) {
        (Arm::Inline, ())
    }

    fn finish(&self, (): (), _: Cost) {}
}
