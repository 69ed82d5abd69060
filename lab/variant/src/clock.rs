//! The clocks that every number of a run is read from.

use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` in nanoseconds: comparable with the stamps of any process of this machine.
#[inline]
pub fn now_ns() -> i64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of all threads of this process in nanoseconds. Not from `getrusage`, which counts the
/// same time but rounds it to microseconds.
#[inline]
pub fn cpu_ns() -> i64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of the thread that asks, in nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

// Kits read the clock around every piece of work, so that it has to be inlined into them, as it
// was when each had its own.
#[inline]
fn read(clock: ClockId) -> i64 {
    let time = clock_gettime(clock).expect("Linux has had these clocks since 2.6");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}
