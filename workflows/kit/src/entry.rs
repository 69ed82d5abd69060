//! The command line of every variant.

use std::process::ExitCode;

use lab_protocol::workflows::Workload;
use lab_variant::Identity;

use crate::check;
use crate::client::{BackEnd, measure};

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, measures `B` and writes one `RunOutcome` line to standard output. A panic
/// becomes a failed outcome. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main<B: BackEnd>(identity: &Identity) -> ExitCode {
    let prepare = |workload: Workload| check::workload(&workload).map(|()| workload);
    lab_variant::variant_main(identity, prepare, |workload| measure::<B>(&workload))
}
