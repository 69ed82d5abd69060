//! One line of memory per thread: the counters and the random numbers, so that no decision writes
//! where another thread reads.

use std::cell::Cell;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use crate::key::mix;

/// Threads that have a stripe of their own; further ones share the last stripe.
const OWNED: usize = 64;
const SHARED: usize = OWNED;
const UNKNOWN: usize = usize::MAX;

/// What a stripe counts beside the decisions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Strike = 14,
    Change = 15,
    Overflow = 16,
    Finished = 17,
}

/// Two arms times seven reasons, then [`Event`].
pub(crate) const COUNTERS: usize = 18;

#[derive(Debug)]
#[repr(align(128))]
struct Stripe {
    random: AtomicU64,
    counters: [AtomicU64; COUNTERS],
}

/// A scheduler's stripes.
#[derive(Debug)]
pub(crate) struct Stripes {
    stripes: Box<[Stripe]>,
    seed: u64,
    seeded: AtomicUsize,
}

impl Stripes {
    pub fn new(seed: u64) -> Self {
        let stripe = |_| Stripe {
            random: AtomicU64::new(0),
            counters: [const { AtomicU64::new(0) }; COUNTERS],
        };
        Self { stripes: (0..=SHARED).map(stripe).collect(), seed, seeded: AtomicUsize::new(0) }
    }

    /// The calling thread's stripe.
    #[inline]
    pub fn mine(&self) -> Mine<'_> {
        let slot = slot();
        Mine { stripes: self, stripe: &self.stripes[slot], owned: slot != SHARED }
    }

    /// Stripes are seeded in the order in which they are first used, so that a scheduler that one
    /// thread uses is deterministic, whichever stripe that thread has.
    #[cold]
    fn first_state(&self) -> u64 {
        let order = self.seeded.fetch_add(1, Relaxed) as u64;
        mix(self.seed ^ mix(order)) | 1
    }

    /// The sum of a counter over all threads.
    pub fn sum(&self, index: usize) -> u64 {
        self.stripes.iter().map(|stripe| stripe.counters[index].load(Relaxed)).sum()
    }
}

/// A thread's stripe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mine<'a> {
    stripes: &'a Stripes,
    stripe: &'a Stripe,
    owned: bool,
}

impl Mine<'_> {
    /// Sixteen random bits: Marsaglia 2003, "Xorshift RNGs", 13, 7, 17.
    ///
    /// Two threads on the shared stripe may draw the same number, which harms nobody.
    #[inline]
    pub fn draw(self) -> u16 {
        let random = &self.stripe.random;
        let mut state = random.load(Relaxed);
        if state == 0 {
            state = self.stripes.first_state();
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        random.store(state, Relaxed);
        (state >> 48) as u16
    }

    /// Counts. A stripe's owner is the only writer, so that a plain store is enough.
    #[inline]
    pub fn count(self, index: usize) {
        let counter = &self.stripe.counters[index];
        if self.owned {
            counter.store(counter.load(Relaxed) + 1, Relaxed);
        } else {
            counter.fetch_add(1, Relaxed);
        }
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
            // Release, so that the next owner sees this thread's last stores.
            LEASED.fetch_and(!(1 << self.0.get()), Release);
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
    let taken = LEASED.fetch_update(AcqRel, Acquire, |bits| {
        let free = bits.trailing_ones();
        (free < OWNED as u32).then(|| bits | 1 << free)
    });
    let slot = taken.map_or(SHARED, |bits| bits.trailing_ones() as usize);
    let leased = LEASE.try_with(|lease| lease.0.set(slot)).is_ok();
    let slot = if leased { slot } else { SHARED };
    SLOT.set(slot);
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

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
