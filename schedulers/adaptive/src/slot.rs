//! The stripe of the calling thread.

use std::cell::Cell;

use crate::lease::{SHARED, give_back, take};
use crate::stripe::{Mine, Stripes};
use crate::sync::AtomicU64;

const UNKNOWN: usize = usize::MAX;

impl Stripes {
    /// The calling thread's stripe.
    #[inline]
    pub fn mine(&self) -> Mine<'_> {
        self.of(slot())
    }
}

/// One bit for each stripe that a living thread owns, for all schedulers alike.
static LEASED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static SLOT: Cell<usize> = const { Cell::new(UNKNOWN) };
    static LEASE: Lease = const { Lease(Cell::new(SHARED)) };
}

/// Gives the stripe back when its thread ends.
struct Lease(Cell<usize>);

impl Drop for Lease {
    fn drop(&mut self) {
        // Decisions in later destructors of this thread go to the shared stripe.
        let _ = SLOT.try_with(|slot| slot.set(SHARED));
        if self.0.get() != SHARED {
            give_back(&LEASED, self.0.get());
        }
    }
}

#[inline]
fn slot() -> usize {
    match SLOT.get() {
        UNKNOWN => lease(),
        slot => slot,
    }
}

#[cold]
fn lease() -> usize {
    let slot = take(&LEASED);
    let leased = LEASE.try_with(|lease| lease.0.set(slot)).is_ok();
    let slot = if leased { slot } else { SHARED };
    SLOT.set(slot);
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::OWNED;

    #[test]
    fn nothing_is_lost_when_threads_outnumber_stripes_and_end() {
        let stripes = Stripes::new(1);
        for _ in 0..3 {
            std::thread::scope(|scope| {
                for _ in 0..OWNED + 10 {
                    scope.spawn(|| (0..100).for_each(|_| stripes.mine().count(3)));
                }
            });
        }
        assert_eq!(stripes.sum(3), 3 * (OWNED as u64 + 10) * 100);
    }

    #[test]
    fn one_seed_gives_one_sequence_evenly_spread() {
        let draws = |seed| {
            let stripes = Stripes::new(seed);
            (0..4096).map(|_| stripes.mine().draw()).collect::<Vec<_>>()
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
        let below_half = draws(7).iter().filter(|&&draw| draw < 1 << 15).count();
        assert!((1900..2200).contains(&below_half), "{below_half}");
    }
}
