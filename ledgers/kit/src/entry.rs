//! The command line of every variant: the lab's own, and what this family adds to it.

use std::process::ExitCode;

use lab_protocol::ledgers::Workload;
use lab_variant::{Failure, Family, Identity, Numbers};

use crate::measure::{Measured, Variant, measure};
use crate::{RunError, check};

const FAMILY: Family = Family {
    name: "ledgers",
    summary: |identity| {
        format!("many small transactions on {} {}", identity.measures, identity.version)
    },
    door: None,
};

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, measures `V` and writes one `RunOutcome` line to standard output. A panic
/// becomes a failed outcome. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main<V: Variant>(identity: &Identity) -> ExitCode {
    let prepare = |workload: Workload| check::workload(&workload).map(|()| workload);
    lab_variant::variant_main(&FAMILY, identity, prepare, |workload| {
        let measured = measure::<V>(&workload);
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
