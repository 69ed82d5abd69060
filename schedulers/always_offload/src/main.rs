//! Everything runs on the pool, and nothing is decided: each call pays the round trip, and no
//! worker is ever kept.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use schedulers_kit::{Arm, Ask, Cost, Identity, Policy, RunError, Setup, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<AlwaysOffload>(&IDENTITY)
}

struct AlwaysOffload;

impl Policy for AlwaysOffload {
    type Asked = ();
    type Pending = ();

    fn new(_: &Setup) -> Result<Self, RunError> {
        Ok(Self)
    }

    fn ask(_: &Ask) {}

    fn choose(&self, (): &()) -> (Arm, ()) {
        (Arm::Offload, ())
    }

    fn finish(&self, (): (), _: Cost) {}
}
