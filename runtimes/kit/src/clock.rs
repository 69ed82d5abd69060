//! The two clocks that every number of a run is read from.

pub(crate) use lab_variant::{cpu_ns, now_ns};
