//! The processors on which a command may run.

use std::{fs, io, os::unix::process::CommandExt, process::Command};

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

/// Lets a command run on these processors alone, from before its program is there; on all of the
/// lab's where none is named.
///
/// The lab's own thread could be moved there and the command inherit that. It would then wait for
/// the processor on which the command runs, and start the other one of a pair late.
pub(crate) fn pin(command: &mut Command, cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    cpus.iter().try_for_each(|cpu| set.set(*cpu))?;
    // SAFETY: in the forked process this makes one system call on memory that is its own; it
    // allocates nothing and takes no lock.
    #[expect(unsafe_code, reason = "what runs between fork and exec")]
    unsafe {
        command.pre_exec(move || Ok(sched_setaffinity(THIS, &set)?));
    }
    Ok(())
}
