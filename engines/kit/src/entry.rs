//! The command line of every variant: the lab's own, and what this family adds to it.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use lab_protocol::engines::Workload;
use lab_protocol::engines::names;
use lab_variant::{Identity, Mode, Numbers, RunError};

use crate::meter::Meter;
use crate::{Answer, Search, ask, outcome, show};

const MODE: Mode = Mode { argument: "--search", help: ask::HELP };

/// The whole of an engine's `main`: answers `--describe` and `--help`, searches for a person
/// (`--search`), or reads one `RunSpec` line from standard input, calls `run` and writes one
/// `RunOutcome` line to standard output. `run` is what is timed: walk, read, search, merge. Its
/// error and its panic become an outcome without numbers. The exit codes are those of
/// [`lab_protocol::exit`].
pub fn variant_main(
    identity: &Identity,
    run: impl FnOnce(Arc<Search>) -> Result<Answer, RunError>,
) -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if let [first, rest @ ..] = &arguments[..]
        && first == MODE.argument
    {
        return show::search(identity.variant(), rest, run);
    }
    lab_variant::variant_main(identity, Some(&MODE), prepare, |search| timed(Arc::new(search), run))
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
    counters
        .extend([(names::WALK_NS, search.walk_ns()), (names::FILES, search.paths().len() as u64)]);
    for (index, reason) in &answer.unreadable {
        eprintln!("file {index} cannot be read: {reason}");
    }
    let counters = counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Numbers { counters, samples: outcome::samples(&answer) })
}
