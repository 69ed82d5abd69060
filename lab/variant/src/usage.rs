//! What the kernel says that a process has used.

use std::fs;

use nix::sys::resource::{Usage, UsageWho, getrusage};

/// CPU time, faults and context switches of this process.
pub fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_SELF).expect("RUSAGE_SELF is always known")
}

/// CPU time, faults and context switches of the children that this process has waited for.
pub fn usage_of_children() -> Usage {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("RUSAGE_CHILDREN is always known")
}

/// The most memory that this process has held, in bytes. Not `ru_maxrss`: after a fork that starts
/// at what the parent needed.
pub fn high_water_bytes() -> u64 {
    kernel_number("/proc/self/status", "VmHWM:") * 1024
}

/// A number in one of the kernel's texts (memory is in KiB); 0 where it does not say.
pub fn kernel_number(path: &str, key: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(key));
    value.and_then(|value| value.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
