//! The atomics that everything here is built on: named in one place, so that `tools/proof loom` can
//! put its own in their stead and try all orders of what threads do.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
