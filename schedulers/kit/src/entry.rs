//! The command line of every variant.

use std::process::ExitCode;

use lab_protocol::schedulers::Workload;
use lab_variant::{Identity, Numbers};

use crate::measure::{Measured, measure};
use crate::{Policy, check};

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, measures `P` and writes one `RunOutcome` line to standard output. A panic
/// becomes a failed outcome. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main<P: Policy>(identity: &Identity) -> ExitCode {
    let prepare = |workload: Workload| check::workload(&workload).map(|()| workload);
    lab_variant::variant_main(identity, prepare, |workload| {
        let measured = measure::<P>(&workload);
        measured.map(|Measured { counters, samples }| Numbers { counters, samples })
    })
}
