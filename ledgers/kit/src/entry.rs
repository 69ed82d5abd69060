//! The command line of every variant.

use std::process::ExitCode;

use lab_protocol::ledgers::Workload;
use lab_variant::Identity;

use crate::check;
use crate::measure::{Variant, measure};

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, measures `V` and writes one `RunOutcome` line to standard output. A panic
/// becomes a failed outcome. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main<V: Variant>(identity: &Identity) -> ExitCode {
    let prepare = |workload: Workload| check::workload(&workload).map(|()| workload);
    lab_variant::variant_main(identity, prepare, |workload| measure::<V>(&workload))
}
