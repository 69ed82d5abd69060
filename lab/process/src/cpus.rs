//! The processors on which a command may run.

use std::{fs, io};

use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

/// The calling thread.
const THIS: Pid = Pid::from_raw(0);

/// The processors that the lab may use, in an order in which those of one core are neighbours.
pub fn cpus_by_core() -> io::Result<Vec<usize>> {
    let allowed = sched_getaffinity(THIS)?;
    let mut cpus: Vec<usize> =
        (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect();
    cpus.sort_by_key(|cpu| (core(*cpu), *cpu));
    Ok(cpus)
}

/// The first processor of the same core; itself where the kernel does not say.
fn core(cpu: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let siblings = fs::read_to_string(path).unwrap_or_default();
    let first = siblings.trim().split([',', '-']).next().unwrap_or_default();
    first.parse().unwrap_or(cpu)
}

/// Does `start` while this thread may run on these processors alone, or on all of its own where
/// there are none. What it starts inherits that: so nothing of ours has to run in the command's
/// process before the command does.
pub(crate) fn on<T>(cpus: &[usize], start: impl FnOnce() -> T) -> io::Result<T> {
    if cpus.is_empty() {
        return Ok(start());
    }
    let mut set = CpuSet::new();
    cpus.iter().try_for_each(|cpu| set.set(*cpu))?;
    let before = sched_getaffinity(THIS)?;
    sched_setaffinity(THIS, &set)?;
    let started = start();
    sched_setaffinity(THIS, &before)?;
    Ok(started)
}
