//! When the pacing thread wakes before a deadline, and how long it may spin up to it.
//!
//! Spinning hides how late timers wake a thread. Where deadlines are dense it would hold a
//! processor for good, and the clients of a small machine need it. So it has a budget: a quarter
//! of the time. A deadline beyond the budget is left to the timer, and its token is stamped late.

use std::hint::spin_loop;
use std::ops::RangeInclusive;

use crate::clock::now_ns;

/// The earliest and the latest wake-up before a deadline. The timer was seen to overshoot by 20 to
/// 50 µs, at p99 84 µs; more than the upper bound would only burn a core that clients need.
const AHEAD_NS: RangeInclusive<u64> = 20_000..=120_000;
/// Spinning may take one part in so many of the time.
const PART: u64 = 4;
/// What may be saved up for a burst of deadlines.
const SAVED_NS_MAX: u64 = 2_000_000;

/// The budget, and how far ahead of a deadline the thread wakes.
#[derive(Debug)]
pub(crate) struct Spin {
    ahead_ns: u64,
    left_ns: u64,
    filled_ns: u64,
}

impl Spin {
    /// The budget begins full.
    pub(crate) fn new(now: u64) -> Self {
        Self { ahead_ns: *AHEAD_NS.end(), left_ns: SAVED_NS_MAX, filled_ns: now }
    }

    /// How long before the next deadline the thread wakes: 0 where it may not spin.
    pub(crate) fn ahead_ns(&mut self, now: u64) -> u64 {
        let earned_ns = now.saturating_sub(self.filled_ns) / PART;
        self.left_ns = (self.left_ns + earned_ns).min(SAVED_NS_MAX);
        // What is too little to count yet counts at the next look.
        self.filled_ns += earned_ns * PART;
        if self.left_ns >= self.ahead_ns { self.ahead_ns } else { 0 }
    }

    /// Learns from a wake-up by the timer. Follows the worst recent ones: up at once, down by one
    /// per cent a wake-up.
    pub(crate) fn woke_late(&mut self, overshoot_ns: u64) {
        let decayed_ns = self.ahead_ns - self.ahead_ns / 100;
        let ahead_ns = decayed_ns.max(overshoot_ns + overshoot_ns / 4);
        self.ahead_ns = ahead_ns.clamp(*AHEAD_NS.start(), *AHEAD_NS.end());
    }

    /// Spins up to a deadline that is at most [`Spin::ahead_ns`] away.
    pub(crate) fn until(&mut self, due_ns: u64) {
        let began = now_ns();
        let mut now = began;
        while now < due_ns {
            spin_loop();
            now = now_ns();
        }
        self.spent(now - began);
    }

    fn spent(&mut self, ns: u64) {
        self.left_ns = self.left_ns.saturating_sub(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much of a second is spun away, with a deadline each so many nanoseconds.
    fn spun_ns(every_ns: u64) -> u64 {
        let mut spin = Spin::new(0);
        let mut spun_ns = 0;
        for due_ns in (every_ns..=1_000_000_000).step_by(every_ns as usize) {
            let ahead_ns = spin.ahead_ns(due_ns - every_ns).min(every_ns);
            spin.spent(ahead_ns);
            spun_ns += ahead_ns;
        }
        spun_ns
    }

    #[test]
    fn spinning_takes_a_quarter_of_the_time_at_most() {
        for every_ns in [1_000, 20_000, 100_000, 300_000] {
            let spun_ns = spun_ns(every_ns);
            assert!(spun_ns <= 250_000_000 + SAVED_NS_MAX, "{every_ns}: {spun_ns}");
            assert!(spun_ns >= 200_000_000, "{every_ns}: {spun_ns}");
        }
        // 200 deadlines a second are all met by spinning.
        assert_eq!(spun_ns(5_000_000), 200 * AHEAD_NS.end());
    }

    #[test]
    fn a_late_wake_up_is_learnt_at_once_and_forgotten_slowly() {
        let mut spin = Spin::new(0);
        (0..1000).for_each(|_| spin.woke_late(0));
        assert_eq!(spin.ahead_ns(0), *AHEAD_NS.start());
        spin.woke_late(80_000);
        assert_eq!(spin.ahead_ns(0), 100_000);
        spin.woke_late(0);
        assert_eq!(spin.ahead_ns(0), 99_000);
    }
}
