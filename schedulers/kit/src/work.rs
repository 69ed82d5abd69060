//! Busy work of a chosen duration, calibrated by the clock on this machine.

use std::hint::black_box;

use crate::clock::now_ns;

/// Busy work of a chosen duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    rounds: u32,
}

/// Rounds from which the duration of one is taken first; about a microsecond.
const TRIAL_ROUNDS: u32 = 1_000;
/// Durations that are taken: the shortest calibrates, the median is reported.
const SAMPLES: usize = 21;
/// How long one sample takes at least, so that reading the clock does not count.
const SAMPLE_NS: u64 = 100_000;

impl Work {
    /// No work: what is left is the way there and back.
    pub(crate) const NONE: Self = Self { rounds: 0 };

    /// As many rounds as take `work_ns` on this thread now, and the median of their real duration.
    pub(crate) fn calibrate(work_ns: u64) -> (Self, u64) {
        if work_ns == 0 {
            return (Self::NONE, 0);
        }
        let mut work = Self { rounds: TRIAL_ROUNDS };
        // Twice: a processor that speeds up or slows down during the first is known by the second.
        // From the fastest sample: another process can only make one longer, and work calibrated
        // beside one would be too short without it.
        for _ in 0..2 {
            let rounds = work_ns * 1_000 * u64::from(work.rounds) / work.samples_ps()[0];
            work.rounds = u32::try_from(rounds.max(1)).unwrap_or(u32::MAX);
        }
        (work, work.samples_ps()[SAMPLES / 2] / 1_000)
    }

    /// A part of it, or a multiple.
    pub(crate) fn scaled(self, numerator: u64, denominator: u64) -> Self {
        let rounds = u64::from(self.rounds) * numerator / denominator;
        Self { rounds: u32::try_from(rounds).unwrap_or(u32::MAX) }
    }

    /// Does it and returns how long it took.
    pub(crate) fn timed(self) -> u64 {
        let start = now_ns();
        self.spin();
        now_ns() - start
    }

    fn spin(self) {
        black_box(chain(black_box(1), self.rounds));
    }

    /// Durations of one call, the shortest first.
    fn samples_ps(self) -> Vec<u64> {
        let mut samples: Vec<u64> = (0..SAMPLES).map(|_| self.sample_ps()).collect();
        samples.sort_unstable();
        samples
    }

    fn sample_ps(self) -> u64 {
        let start = now_ns();
        let mut calls = 0;
        loop {
            self.spin();
            calls += 1;
            let elapsed = now_ns() - start;
            if elapsed >= SAMPLE_NS {
                return (elapsed * 1_000 / calls).max(1);
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
    fn no_work_is_no_round_and_longer_work_has_more() {
        assert_eq!(Work::calibrate(0), (Work::NONE, 0));
        let (short, _) = Work::calibrate(1_000);
        let (long, measured_ns) = Work::calibrate(50_000);
        assert!(short.rounds >= 1 && long.rounds > short.rounds && measured_ns > 0);
    }
}
