//! One line of memory per thread: the counters and the random numbers, so that no decision writes
//! where another thread reads.

use std::array;
use std::sync::atomic::Ordering::Relaxed;

use crate::key::mix;
use crate::lease::SHARED;
use crate::sync::{AtomicU64, AtomicUsize};

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
            counters: array::from_fn(|_| AtomicU64::new(0)),
        };
        Self { stripes: (0..=SHARED).map(stripe).collect(), seed, seeded: AtomicUsize::new(0) }
    }

    /// The stripe of a slot, for the thread that owns it; the shared one for everybody.
    #[inline]
    pub fn of(&self, slot: usize) -> Mine<'_> {
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
