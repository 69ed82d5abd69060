//! What the timed region costs the process, and the children that it waits for: a peer is one.

use lab_protocol::engines::names;

use std::collections::BTreeMap;

use lab_variant::{high_water_bytes, usage, usage_of_children};
use nix::sys::resource::Usage;
use nix::sys::time::TimeValLike;

use crate::clock::{cpu_ns, since};
use crate::now_ns;

/// Readings at the start of the timed region.
#[derive(Debug)]
pub(crate) struct Meter {
    start_ns: i64,
    cpu_ns: i64,
    usage: [Usage; 2],
}

fn usages() -> [Usage; 2] {
    [usage(), usage_of_children()]
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { usage: usages(), cpu_ns: cpu_ns(), start_ns: now_ns() }
    }

    /// The counters since the start.
    pub(crate) fn counters(&self) -> BTreeMap<&'static str, u64> {
        let wall_ns = since(self.start_ns);
        let own_cpu_ns = cpu_ns() - self.cpu_ns;
        let now = usages();
        let grown_of = |whose: usize, reading: fn(&Usage) -> i64| {
            reading(&now[whose]) - reading(&self.usage[whose])
        };
        let grown = |reading: fn(&Usage) -> i64| grown_of(0, reading) + grown_of(1, reading);
        let user_us: fn(&Usage) -> i64 = |usage| usage.user_time().num_microseconds();
        let system_us: fn(&Usage) -> i64 = |usage| usage.system_time().num_microseconds();
        let of_children_us = grown_of(1, user_us) + grown_of(1, system_us);
        let readings = [
            (names::CPU_TOTAL_NS, own_cpu_ns + of_children_us * 1_000),
            (names::CPU_USER_NS, grown(user_us) * 1_000),
            (names::CPU_SYSTEM_NS, grown(system_us) * 1_000),
            (names::PAGE_FAULTS_MINOR, grown(Usage::minor_page_faults)),
            (names::PAGE_FAULTS_MAJOR, grown(Usage::major_page_faults)),
            (names::VOLUNTARY_SWITCHES, grown(Usage::voluntary_context_switches)),
            (names::INVOLUNTARY_SWITCHES, grown(Usage::involuntary_context_switches)),
        ];
        let known = |(name, value)| (name, u64::try_from(value).unwrap_or(0));
        let mut counters: BTreeMap<_, _> = readings.into_iter().map(known).collect();
        counters.insert(names::WALL_NS, wall_ns);
        counters.insert(names::RSS_HIGH_WATER_BYTES, high_water_bytes());
        counters
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_child_spent_is_counted() {
        let meter = Meter::start();
        let loops = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", loops]).status().unwrap().success());
        let counters = meter.counters();
        let parts = counters[names::CPU_USER_NS] + counters[names::CPU_SYSTEM_NS];
        let own_ns = cpu_ns() as u64;
        assert!(parts > 5 * own_ns.min(2_000_000), "{counters:?}, {own_ns} of its own");
        assert!(counters[names::CPU_TOTAL_NS].abs_diff(parts) < parts / 2, "{counters:?}");
    }
}
