//! The clocks that every number of a run is read from, and sleep until an instant of one.

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub(crate) fn now_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of all threads of this process in nanoseconds.
pub(crate) fn cpu_ns() -> u64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
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

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("Linux has had these clocks since 2.6");
    time.tv_sec().unsigned_abs() * 1_000_000_000 + time.tv_nsec().unsigned_abs()
}
