//! Busy work: what a transaction would do besides the ledger (parse, check, sign).

use std::hint::black_box;

use crate::now_ns;

/// Busy work of a chosen duration; each thread works on a copy of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    rounds: u32,
    /// Where the last call ended and the next begins, so that no processor overlaps two of them.
    state: u64,
}

/// Rounds from which the duration of one is taken; about a microsecond.
const TRIAL_ROUNDS: u32 = 1_000;
/// Durations of which the median is taken.
const SAMPLES: usize = 21;
/// How long one sample takes at least, so that reading the clock does not count.
const SAMPLE_NS: i64 = 100_000;

impl Work {
    /// No work.
    pub const NONE: Self = Self::of(0);

    /// As many rounds as take `work_ns` on this thread now, and the median of their real duration
    /// in picoseconds.
    pub fn calibrate(work_ns: u64) -> (Self, u64) {
        if work_ns == 0 {
            return (Self::NONE, 0);
        }
        let trial_ps = Self::of(TRIAL_ROUNDS).median_ps();
        let rounds = work_ns * 1_000 * u64::from(TRIAL_ROUNDS) / trial_ps;
        let work = Self::of(u32::try_from(rounds.max(1)).unwrap_or(u32::MAX));
        (work, work.median_ps())
    }

    const fn of(rounds: u32) -> Self {
        Self { rounds, state: 1 }
    }

    /// Does it.
    #[inline]
    pub fn spin(&mut self) {
        if self.rounds > 0 {
            self.state = black_box(chain(self.state, self.rounds));
        }
    }

    fn median_ps(mut self) -> u64 {
        let mut samples: Vec<u64> = (0..SAMPLES).map(|_| self.sample_ps()).collect();
        samples.sort_unstable();
        samples[SAMPLES / 2].max(1)
    }

    fn sample_ps(&mut self) -> u64 {
        let start = now_ns();
        let mut calls = 0;
        loop {
            // A few at once: reading the clock takes as long as some works do.
            (0..32).for_each(|_| self.spin());
            calls += 32;
            let elapsed = now_ns() - start;
            if elapsed >= SAMPLE_NS {
                return elapsed.unsigned_abs() * 1_000 / calls;
            }
        }
    }
}

/// Each round needs the one before. Not a linear generator: of that the compiler makes one round
/// out of eight.
#[inline(never)]
fn chain(start: u64, rounds: u32) -> u64 {
    (0..rounds).fold(start, |state, _| (state ^ (state >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_work_is_no_call_and_some_work_is_at_least_one_round() {
        assert_eq!(Work::calibrate(0), (Work::NONE, 0));
        let (work, measured_ps) = Work::calibrate(1);
        assert!(work.rounds >= 1 && measured_ps > 0);
        let (longer, _) = Work::calibrate(10_000);
        assert!(longer.rounds > work.rounds);
    }
}
