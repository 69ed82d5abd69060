//! The command line of every variant: the lab's own, and what this family adds to it.

use std::process::ExitCode;

use lab_protocol::workflow::Workload;
use lab_variant::{Failure, Family, Identity, Numbers};

use crate::client::{BackEnd, Measured, measure};
use crate::{RunError, check};

const FAMILY: Family = Family {
    name: "workflows",
    summary: |identity| {
        format!("tasks of steps, kept by {} {}", identity.measures, identity.version)
    },
    door: None,
};

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, runs the workload on `B` and writes one `RunOutcome` line to standard
/// output. A panic becomes a failed outcome. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main<B: BackEnd>(identity: &Identity) -> ExitCode {
    let prepare = |workload: Workload| check::workload(&workload).map(|()| workload);
    lab_variant::variant_main(&FAMILY, identity, prepare, |workload| {
        let measured = measure::<B>(&workload);
        measured.map(|Measured { counters, samples }| Numbers { counters, samples })
    })
}

impl Failure for RunError {
    fn panicked(text: String) -> Self {
        Self::Panicked(text)
    }

    fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported(_))
    }
}
