//! The clock that tells how long each kind of work took.

use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub(crate) fn now_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has had it since 2.6");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

/// Nanoseconds since a reading of [`now_ns`].
pub(crate) fn since(start_ns: i64) -> u64 {
    u64::try_from(now_ns() - start_ns).unwrap_or(0)
}
