//! Processes that a run leaves behind: the lab inherits them, so that their CPU time counts as the
//! lab's own.

use nix::{
    sys::{
        prctl,
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};

/// From now on this process inherits orphans among its descendants. Not where the kernel does not
/// list children: [`wait_for_ended`] could not find them.
pub(crate) fn inherit() {
    if lab_probe::children(std::process::id()).is_some() {
        // A kernel that refuses leaves orphans to process 1, and their CPU time counts as outside.
        let _ = prctl::set_child_subreaper(true);
    }
}

/// Waits for inherited processes that have ended. `own` are children that others wait for.
pub(crate) fn wait_for_ended(own: &[u32]) {
    let children = lab_probe::children(std::process::id()).unwrap_or_default();
    for child in children.into_iter().filter(|child| !own.contains(child)) {
        let _ = waitpid(Pid::from_raw(child.cast_signed()), Some(WaitPidFlag::WNOHANG));
    }
}
