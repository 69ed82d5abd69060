//! What a run costs its processes.

use std::fs;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The counters of the whole run, read now: CPU time of this process and of the children that it
/// has waited for, and the most memory that this process, without its children, has held.
pub(crate) fn whole_run() -> [(&'static str, u64); 2] {
    let cpu_ns = usage_ns(UsageWho::RUSAGE_SELF) + usage_ns(UsageWho::RUSAGE_CHILDREN);
    // Not `ru_maxrss`: after a fork that starts at what the parent needed.
    [("cpu_total_ns", cpu_ns), ("rss_high_water_bytes", status_kib("VmHWM:") * 1024)]
}

fn usage_ns(who: UsageWho) -> u64 {
    let usage: Usage = getrusage(who).expect("a process may always read its own usage");
    let ns = |time: TimeVal| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000;
    (ns(usage.user_time()) + ns(usage.system_time())).unsigned_abs()
}

/// A memory line of `/proc/self/status`; 0 where the kernel does not say.
fn status_kib(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(key));
    value.and_then(|value| value.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
