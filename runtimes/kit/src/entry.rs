//! The command line of every variant.

use std::process::ExitCode;
use std::sync::Arc;

use lab_protocol::runtimes::Workload;
use lab_protocol::runtimes::names;
use lab_variant::{Identity, Numbers, RunError};

use crate::{AgentLog, Meter, descriptors, outcome, request};

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, calls `run` and writes one `RunOutcome` line to standard output. `run`
/// gives the logs in the order of the workload's agents; its error and its panic become a failed
/// outcome. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main(
    identity: &Identity,
    run: impl FnOnce(Workload, Arc<Meter>) -> Result<Vec<AgentLog>, RunError>,
) -> ExitCode {
    cutting_variant_main(identity, |workload, meter| match workload.piece_bytes {
        None => run(workload, meter),
        Some(_) => Err(RunError::unsupported("it takes a reply's bytes as its client gives them")),
    })
}

/// The same for a variant that cuts the stream of a reply into the pieces that a workload asks for.
pub fn cutting_variant_main(
    identity: &Identity,
    run: impl FnOnce(Workload, Arc<Meter>) -> Result<Vec<AgentLog>, RunError>,
) -> ExitCode {
    // First of all, for the time until the first agent counts from here.
    let meter = Arc::new(Meter::start());
    let prepare = |workload| request::check(&workload).map(|()| workload);
    lab_variant::variant_main(identity, prepare, |workload| {
        descriptors::make_room(&workload)?;
        let before = descriptors::open();
        let logs = run(workload, Arc::clone(&meter))?;
        let left = descriptors::open().saturating_sub(before);
        let mut numbers = numbers(&logs, &meter);
        numbers.counters.insert(names::DESCRIPTORS_LEFT.to_owned(), left);
        Ok(numbers)
    })
}

fn numbers(logs: &[AgentLog], meter: &Meter) -> Numbers {
    let mut counters = meter.counters();
    counters.insert(names::WALL_NS.to_owned(), outcome::wall_ns(logs));
    Numbers { counters, samples: outcome::samples(logs) }
}
