//! The clocks that every number of a run is read from, and sleep until an instant of one.

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub(crate) fn now_ns() -> u64 {
    lab_variant::now_ns().unsigned_abs()
}

/// CPU time of all threads of this process in nanoseconds.
pub(crate) fn cpu_ns() -> u64 {
    lab_variant::cpu_ns().unsigned_abs()
}

/// Blocks this thread until an instant of `CLOCK_MONOTONIC`; returns at once where it has passed.
pub(crate) fn sleep_until(instant_ns: u64) {
    let instant = time_spec(instant_ns);
    let absolute = ClockNanosleepFlags::TIMER_ABSTIME;
    // A signal ends the sleep early, and the instant stays the same.
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, absolute, &instant) == Err(Errno::EINTR) {}
}

/// Nanoseconds as the kernel takes them.
pub(crate) fn time_spec(ns: u64) -> TimeSpec {
    TimeSpec::new((ns / 1_000_000_000).cast_signed(), (ns % 1_000_000_000).cast_signed())
}
