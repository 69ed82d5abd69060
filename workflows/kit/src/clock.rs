//! The clocks that every number of a run is read from.

use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub fn now_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has had this clock since 2.6");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}
