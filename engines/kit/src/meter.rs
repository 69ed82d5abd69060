//! What the timed region costs the process.

use lab_protocol::engines::names;

use std::collections::BTreeMap;

use lab_variant::{high_water_bytes, usage};
use nix::sys::resource::Usage;
use nix::sys::time::TimeValLike;

use crate::clock::{cpu_ns, since};
use crate::now_ns;

/// Readings at the start of the timed region.
#[derive(Debug)]
pub(crate) struct Meter {
    start_ns: i64,
    cpu_ns: i64,
    usage: Usage,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { usage: usage(), cpu_ns: cpu_ns(), start_ns: now_ns() }
    }

    /// The counters since the start.
    pub(crate) fn counters(&self) -> BTreeMap<&'static str, u64> {
        let wall_ns = since(self.start_ns);
        let cpu_ns = cpu_ns() - self.cpu_ns;
        let (before, now) = (&self.usage, usage());
        let user_us = now.user_time().num_microseconds() - before.user_time().num_microseconds();
        let system = now.system_time().num_microseconds();
        let system_us = system - before.system_time().num_microseconds();
        let grown = |reading: fn(&Usage) -> i64| reading(&now) - reading(before);
        let readings = [
            (names::CPU_TOTAL_NS, cpu_ns),
            (names::CPU_USER_NS, user_us * 1_000),
            (names::CPU_SYSTEM_NS, system_us * 1_000),
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
