//! The command line of every engine.

use std::env;
use std::process::ExitCode;
use std::sync::Arc;

use lab_protocol::engines::{Workload, names};
use lab_protocol::exit;
use lab_variant::{Identity, Numbers, RunError};

use crate::meter::Meter;
use crate::{Answer, Search, outcome};

/// The whole of an engine's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, calls `run` and writes one `RunOutcome` line to standard output. `run` is
/// what is timed: walk, read, search, merge. Its error and its panic become an outcome without
/// numbers. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main(
    identity: &Identity,
    run: impl FnOnce(Arc<Search>) -> Result<Answer, RunError>,
) -> ExitCode {
    if env::args_os().nth(1).is_some_and(|first| first == "--search") {
        eprintln!("{}: --search is the program jsonl-search now", identity.variant());
        return ExitCode::from(exit::BAD_SPEC as u8);
    }
    lab_variant::variant_main(identity, prepare, |search| timed(Arc::new(search), run))
}

fn prepare(workload: Workload) -> Result<Search, String> {
    Search::new(workload).map_err(|error| format!("cannot read the query: {error}"))
}

fn timed(
    search: Arc<Search>,
    run: impl FnOnce(Arc<Search>) -> Result<Answer, RunError>,
) -> Result<Numbers, RunError> {
    if search.workload().cold {
        search.evict()?;
    }
    let meter = Meter::start();
    let answer = run(Arc::clone(&search))?;
    let mut counters = meter.counters();
    counters.extend(outcome::counters(&answer));
    counters.extend([(names::WALK_NS, search.walk_ns()), (names::FILES, search.files())]);
    for (index, reason) in &answer.unreadable {
        eprintln!("file {index} cannot be read: {reason}");
    }
    let counters = counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Numbers { counters, samples: outcome::samples(&answer) })
}
