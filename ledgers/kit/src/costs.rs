//! What the timed region costs its process: CPU time, context switches, what the processor counts.

use lab_protocol::ledgers::names;

use lab_variant::{cpu_ns, high_water_bytes, usage};
use perf_event::events::Hardware;
use perf_event::{Builder, Counter};

/// Readings of the process, as columns.
#[derive(Debug)]
pub(crate) struct Costs {
    hardware: Vec<(&'static str, Counter)>,
}

impl Costs {
    /// Call it before the variant starts a thread: a thread inherits at its start what the
    /// processor is to count, which is what happens in user mode. Where the kernel does not let us
    /// count, it says so to people, and the columns are absent.
    pub(crate) fn open() -> Self {
        let events = [
            (names::PERF_CYCLES, Hardware::CPU_CYCLES),
            (names::PERF_INSTRUCTIONS, Hardware::INSTRUCTIONS),
            (names::PERF_CACHE_MISSES, Hardware::CACHE_MISSES),
        ];
        let counters = events.into_iter().map(|(name, event)| {
            let mut counter = Builder::new(event).inherit(true).build()?;
            counter.enable()?;
            Ok((name, counter))
        });
        let hardware = counters.collect::<std::io::Result<Vec<_>>>().unwrap_or_else(|error| {
            eprintln!("no perf columns: the kernel does not let this process count: {error}");
            Vec::new()
        });
        Self { hardware }
    }

    /// All readings, growing from call to call.
    pub(crate) fn read(&mut self) -> Vec<(&'static str, i64)> {
        let usage = usage();
        let mut readings = vec![
            (names::CPU_NS, cpu_ns()),
            (names::VOLUNTARY_SWITCHES, usage.voluntary_context_switches()),
            (names::INVOLUNTARY_SWITCHES, usage.involuntary_context_switches()),
        ];
        for (name, counter) in &mut self.hardware {
            // A counter that opened and was enabled is read without a further right.
            readings.push((name, counter.read().unwrap_or(0).cast_signed()));
        }
        readings
    }
}

/// The counters of the whole run, read now.
pub(crate) fn whole_run() -> [(&'static str, u64); 2] {
    [
        (names::CPU_TOTAL_NS, cpu_ns().unsigned_abs()),
        (names::RSS_HIGH_WATER_BYTES, high_water_bytes()),
    ]
}
