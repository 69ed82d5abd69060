//! Which stripes are owned: one bit each.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use crate::sync::AtomicU64;

/// Threads that have a stripe of their own; further ones share the last stripe.
pub(crate) const OWNED: usize = 64;
pub(crate) const SHARED: usize = OWNED;

/// Takes a free stripe, or the shared one where none is free.
pub(crate) fn take(leased: &AtomicU64) -> usize {
    let taken = leased.fetch_update(AcqRel, Acquire, |bits| {
        let free = bits.trailing_ones();
        (free < OWNED as u32).then(|| bits | 1 << free)
    });
    taken.map_or(SHARED, |bits| bits.trailing_ones() as usize)
}

/// Gives an owned stripe back.
pub(crate) fn give_back(leased: &AtomicU64, slot: usize) {
    // Release, so that the next owner sees this thread's last stores.
    leased.fetch_and(!(1 << slot), Release);
}
