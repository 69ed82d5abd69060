//! Whether this process may open as many files as its agents need.

use std::fs;
use std::thread::available_parallelism;

use lab_protocol::runtimes::{Arrangement, Workload};
use lab_variant::RunError;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What a runtime opens for itself (to wait, to be woken, to resolve a host), and some to spare.
const RUNTIME: u64 = 32;
/// What each further loop opens for itself where a variant has one for each core.
const LOOP: u64 = 3;
/// Standard input, output and error, where the kernel does not say what is open.
const STANDARD: u64 = 3;

/// Makes room for the descriptors of all agents that run at once. Anybody may raise the soft limit
/// up to the hard one, which is done where it is needed and nowhere else.
///
/// # Errors
/// [`RunError::Unsupported`] where the hard limit is too low.
pub(crate) fn make_room(workload: &Workload) -> Result<(), RunError> {
    let agents = match workload.arrangement {
        Arrangement::Concurrent => workload.agents.len() as u64,
        Arrangement::Solo => 1,
    };
    let needed = needed(agents);
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(RunError::setup)?;
    if needed <= soft {
        return Ok(());
    }
    if needed <= hard {
        return setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(RunError::setup);
    }
    let who = match agents {
        1 => "an agent needs".to_owned(),
        _ => format!("{agents} agents at once need"),
    };
    Err(RunError::unsupported(format!(
        "{who} {needed} open files and this process may have {hard}: raise that limit \
         (ulimit -n {needed}) or ask for fewer agents"
    )))
}

/// A socket for each agent, and what is not the agents'.
fn needed(agents: u64) -> u64 {
    let cores = available_parallelism().map_or(1, |cores| cores.get() as u64);
    open() + agents + RUNTIME + LOOP * cores.min(agents)
}

/// Descriptors that are open now: what the parent left, ours, and the folder that is read to count.
pub(crate) fn open() -> u64 {
    fs::read_dir("/proc/self/fd").map_or(STANDARD, |open| open.count() as u64)
}
