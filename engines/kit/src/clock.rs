//! The two clocks that every number of a run is read from.

pub(crate) use lab_variant::{cpu_ns, now_ns};

/// Nanoseconds since a reading of [`now_ns`].
pub(crate) fn since(start_ns: i64) -> u64 {
    u64::try_from(now_ns() - start_ns).unwrap_or(0)
}
