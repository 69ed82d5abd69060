//! Processes that a run leaves behind: the lab inherits them, so that their CPU time counts as the
//! lab's own, and ends them before the next run.

use std::{thread, time::Duration};

use nix::{
    sys::{
        prctl,
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};

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

/// Ends inherited processes and waits for them. `own` are children that others wait for, and what
/// [`inherit`] found.
pub(crate) fn end(own: &[u32]) {
    for look in 0..LOOKS_MAX {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        let children = lab_probe::children(std::process::id()).unwrap_or_default();
        let left: Vec<u32> = children.into_iter().filter(|child| !own.contains(child)).collect();
        if left.is_empty() {
            return;
        }
        for child in left {
            // Nobody has waited for it, so the id is still its own.
            let pid = Pid::from_raw(child.cast_signed());
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }
}
