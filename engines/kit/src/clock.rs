//! The two clocks that every number of a run is read from.

use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub fn now_ns() -> i64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of all threads of this process in nanoseconds.
pub(crate) fn cpu_ns() -> i64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

fn read(clock: ClockId) -> i64 {
    let time = clock_gettime(clock).expect("Linux has had both clocks since 2.6");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

/// Nanoseconds since a reading of [`now_ns`].
pub(crate) fn since(start_ns: i64) -> u64 {
    u64::try_from(now_ns() - start_ns).unwrap_or(0)
}
