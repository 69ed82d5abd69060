//! Processes that a run leaves behind: the lab inherits them, so that their CPU time counts as the
//! lab's own, and ends them before the next run.

use std::{collections::BTreeSet, thread, time::Duration};

use lab_record::Run;
use nix::{
    sys::{
        prctl,
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};

use crate::child::children_cpu_ns;

/// An orphan that is ended leaves its own children to us; after so many looks it wins.
const LOOKS_MAX: u32 = 50;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// From now on this process inherits orphans among its descendants. Not where the kernel does not
/// list children: [`end`] could not find them.
///
/// Returns the descendants that it has by now, which the user started. A shell becomes the last
/// command of its line, as in `sh -c 'server & exec lab …'`, and its children are that command's.
pub(crate) fn inherit() -> Vec<u32> {
    let Some(mut found) = lab_probe::children(std::process::id()) else { return Vec::new() };
    // A kernel that refuses leaves orphans to process 1, and their CPU time counts as outside.
    let _ = prctl::set_child_subreaper(true);
    let mut place = 0;
    while let Some(process) = found.get(place) {
        let children = lab_probe::children(*process).unwrap_or_default();
        found.extend(children);
        place += 1;
    }
    found
}

/// What a run left behind when its program had ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Processes that nobody had waited for; some may have ended by themselves.
    pub(crate) processes: u64,
    /// The CPU time that they and their own children had.
    pub(crate) cpu_ns: u64,
}

/// Counters of a run that left processes behind.
const LEFT_PROCESSES: &str = "left_processes";
const LEFT_CPU_NS: &str = "left_cpu_ns";

impl Left {
    /// Puts them into a run's row.
    pub(crate) fn count(self, run: &mut Run) {
        if self.processes > 0 {
            run.counters.insert(LEFT_PROCESSES.to_owned(), self.processes);
            run.counters.insert(LEFT_CPU_NS.to_owned(), self.cpu_ns);
        }
    }
}

/// Ends inherited processes and waits for them. `own` are children that others wait for, and what
/// [`inherit`] found.
pub(crate) fn end(own: &[u32]) -> Left {
    let before = children_cpu_ns();
    let processes = end_all(own).len() as u64;
    // Only what was waited for here: others of the lab's children go on.
    let cpu_ns = children_cpu_ns().zip(before).map_or(0, |(after, before)| after - before);
    Left { processes, cpu_ns: if processes > 0 { cpu_ns } else { 0 } }
}

fn end_all(own: &[u32]) -> BTreeSet<u32> {
    let mut ended = BTreeSet::new();
    for look in 0..LOOKS_MAX {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        let children = lab_probe::children(std::process::id()).unwrap_or_default();
        let left: Vec<u32> = children.into_iter().filter(|child| !own.contains(child)).collect();
        if left.is_empty() {
            break;
        }
        for child in left {
            ended.insert(child);
            // Nobody has waited for it, so the id is still its own.
            let pid = Pid::from_raw(child.cast_signed());
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }
    ended
}
