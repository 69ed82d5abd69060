//! What the processor counts of a command, outside the kernel.

use std::io;

use perf_event::{
    Builder, Counter,
    events::{Event, Hardware},
};

/// What was counted of a command and of all its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// Instructions that were executed.
    pub instructions: u64,
    /// Cycles of the processor's clock.
    pub cycles: u64,
}

/// Why there are no [`Counters`] here; `None` where there are. Virtual machines often have none,
/// and `kernel.perf_event_paranoid` above 2 refuses them.
pub fn no_counters() -> Option<io::Error> {
    Open::try_new().err()
}

/// Counters of what this thread starts next, if there are any.
pub(crate) struct Open(Option<[Counter; 2]>);

impl Open {
    pub(crate) fn new() -> Self {
        Self(Self::try_new().ok())
    }

    /// For a command that is not counted.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    fn try_new() -> io::Result<[Counter; 2]> {
        Ok([counter(Hardware::INSTRUCTIONS)?, counter(Hardware::CPU_CYCLES)?])
    }

    /// What they show.
    pub(crate) fn read(&mut self) -> Option<Counters> {
        let [instructions, cycles] = self.0.as_mut()?;
        Some(Counters { instructions: count(instructions)?, cycles: count(cycles)? })
    }
}

/// It is this thread's and off. A child inherits it, and only the exec of a program turns it on: so
/// neither the lab nor the child before its program is counted. The kernel adds what a child
/// counted to ours when the child ends (`perf_event_open(2)`: `inherit`, `enable_on_exec`).
fn counter(event: impl Event) -> io::Result<Counter> {
    Builder::new(event).inherit(true).enable_on_exec(true).build()
}

/// Scaled up where the kernel had to share the processor's counters with others and counted for a
/// part of the time, as `perf stat` does it.
fn count(counter: &mut Counter) -> Option<u64> {
    let read = counter.read_full().ok()?;
    let [enabled, running] =
        [read.time_enabled()?, read.time_running()?].map(|time| time.as_nanos());
    let scaled = u128::from(read.count()) * enabled / running.max(1);
    if enabled == running { Some(read.count()) } else { u64::try_from(scaled).ok() }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, process::Command};

    use perf_event::events::Software;

    use super::*;

    /// With an event that every kernel has: how often a program touched a page for the first time.
    #[test]
    fn programs_are_counted_with_their_children_and_the_lab_is_not() {
        let counted = |script: &str| {
            let mut counter = counter(Software::PAGE_FAULTS).ok()?;
            assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
            std::hint::black_box(vec![1_u8; 64 << 20]);
            count(&mut counter)
        };
        let Some(nothing) = counted(":") else {
            let why = "the kernel refuses perf_event_open";
            let _ = writeln!(io::stderr(), "SKIPPED programs_are_counted: {why}");
            return;
        };
        let large = "head -c 32000000 /dev/zero | tail -c 31000000 > /dev/null; :";
        assert!(nothing > 0 && nothing < 2_000, "{nothing}");
        // A page is 4 KiB, or larger where the kernel has large pages for it.
        assert!(counted(large).unwrap() > nothing + 100);
    }
}
