//! CPU time of this process and of everything that it started.

use std::{collections::BTreeSet, fs};

use lab_process::children;
use nix::{
    sys::resource::{Usage, UsageWho, getrusage},
    sys::time::TimeVal,
    time::{ClockId, clock_gettime},
    unistd::Pid,
};

use super::noise::TICK_NS;

/// CPU time of this process, of `others`, and of all descendants of either. A process that has
/// ended counts from when its parent, or the process that inherited it, has waited for it.
pub(crate) fn tree_ns(others: &[u32]) -> u64 {
    let this = std::process::id();
    let mut processes: BTreeSet<u32> = descendants(this);
    for &other in others {
        processes.insert(other);
        processes.extend(descendants(other));
    }
    let usage = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN];
    let own: u64 = usage.into_iter().filter_map(|who| getrusage(who).ok()).map(cpu_ns).sum();
    own + spent_ns(processes)
}

/// CPU time of another process and of all its descendants, in nanoseconds, 0 where it has gone. One
/// of them that has ended counts from when its parent has waited for it, in hundredths of a second.
pub fn cpu_ns_below(pid: u32) -> u64 {
    let mut processes = descendants(pid);
    processes.insert(pid);
    spent_ns(processes)
}

fn spent_ns(processes: BTreeSet<u32>) -> u64 {
    processes.into_iter().map(|pid| own_ns(pid) + waited_ns(pid)).sum()
}

fn descendants(pid: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut left = vec![pid];
    while let Some(pid) = left.pop() {
        let new =
            children(pid).unwrap_or_default().into_iter().filter(|child| found.insert(*child));
        left.extend(new);
    }
    found
}

fn cpu_ns(usage: Usage) -> u64 {
    let ns = |time: TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64 * 1_000;
    ns(usage.user_time()) + ns(usage.system_time())
}

/// CPU time of all threads of a process, 0 where it has gone.
fn own_ns(pid: u32) -> u64 {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(pid.cast_signed()));
    let time = clock.and_then(clock_gettime);
    time.map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// CPU time of the children that a process has waited for, 0 where it has gone.
fn waited_ns(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.ok().as_deref().and_then(waited_in).unwrap_or(0)
}

/// Fields 16 and 17 of `/proc/PID/stat`. The name in parentheses may hold spaces, so fields are
/// counted from after it.
fn waited_in(stat: &str) -> Option<u64> {
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some((ticks(13)? + ticks(14)?) * TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn waited_children_are_read_behind_a_name_with_spaces() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 1 2 3 4 50 60 700 800 20 0 1 0 9";
        assert_eq!(waited_in(stat), Some(1_500 * TICK_NS));
        assert_eq!(waited_in("7 (a) S 1"), None);
    }

    /// A shell that waits for a child, then lives on: the child is the shell's own, and the
    /// grandchild's time stands in the shell's account.
    #[test]
    fn a_living_child_counts_with_what_it_waited_for() {
        let burn = "while :; do read -r l </proc/$$/stat; set -- $l; \
                    [ $((${14}+${15})) -ge 20 ] && break; done";
        let script = format!("sh -c '{burn}'; echo; read -r line");
        let before = tree_ns(&[]);
        let mut shell = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read(shell.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let listed = children(std::process::id());
        let during = tree_ns(&[]);
        let below = cpu_ns_below(shell.id());
        drop(shell.stdin.take());
        shell.wait().unwrap();
        let after = tree_ns(&[]);
        assert!(after - before >= 200_000_000, "{}", after - before);
        if let Some(listed) = listed {
            assert!(listed.contains(&shell.id()));
            assert!(below >= 190_000_000, "{below}");
            assert!(during - before >= 190_000_000, "{}", during - before);
        }
    }
}
