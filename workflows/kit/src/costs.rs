//! What a run costs its processes.

use lab_protocol::workflows::names;

use std::fs;

use lab_variant::{high_water_bytes, kernel_number};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The counters of the whole run, read now: CPU time of this process and of the children that it
/// has waited for, without servers that were up before it, and the most memory that this process,
/// without its children, has held.
pub(crate) fn whole_run() -> [(&'static str, u64); 2] {
    let cpu_ns = usage_ns(UsageWho::RUSAGE_SELF) + usage_ns(UsageWho::RUSAGE_CHILDREN);
    [(names::CPU_TOTAL_NS, cpu_ns), (names::RSS_HIGH_WATER_BYTES, high_water_bytes())]
}

/// The counters of everything that does the run's work, read while it stands: the processes from
/// this one and from servers that were up before it down, and the memory that they hold together.
/// That is their proportional set size, in which a page of several counts once (Pss in
/// proc_pid_smaps(5)); 0 where the kernel does not say. What such a server holds of earlier runs is
/// among it.
/// A process that has left its parent is not seen.
pub(crate) fn standing(servers: Vec<u32>) -> [(&'static str, u64); 2] {
    let mut found = servers;
    found.push(std::process::id());
    let mut next = 0;
    while let Some(&process) = found.get(next) {
        found.extend(children(process));
        next += 1;
    }
    let kib = |process| kernel_number(&format!("/proc/{process}/smaps_rollup"), "Pss:");
    [
        (names::ALL_PSS_BYTES, found.iter().map(|process| kib(process) * 1024).sum()),
        (names::ALL_PROCESSES, found.len() as u64),
    ]
}

/// Those that the process's threads have started.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.map(|thread| {
        let list = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        list.split_whitespace().filter_map(|number| number.parse().ok()).collect::<Vec<u32>>()
    });
    lists.flatten().collect()
}

fn usage_ns(who: UsageWho) -> u64 {
    let usage: Usage = getrusage(who).expect("a process may always read its own usage");
    let ns = |time: TimeVal| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000;
    (ns(usage.user_time()) + ns(usage.system_time())).unsigned_abs()
}
