//! The same computation in adjacent pairs: how far two equal things differ on this machine now.

use std::hint::black_box;

use lab_process::monotonic_ns;

/// Steps that a first look takes, some tenths of a millisecond.
const FIRST_STEPS: u64 = 100_000;

/// Times of one thread for a computation of about `work_ns`, twice a pair.
pub fn equal_pairs(pairs: usize, work_ns: u64) -> Vec<(u64, u64)> {
    // The first look also wakes up the CPU.
    let first_ns = (0..10).map(|_| compute(FIRST_STEPS)).min().unwrap_or(1).max(1);
    let steps = FIRST_STEPS * work_ns / first_ns;
    (0..pairs).map(|_| (compute(steps), compute(steps))).collect()
}

fn compute(steps: u64) -> u64 {
    let start = monotonic_ns();
    let mut state = black_box(1_u64);
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
    monotonic_ns() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_two_times() {
        let pairs = equal_pairs(3, 100_000);
        assert_eq!(pairs.len(), 3);
        assert!(pairs.iter().all(|&(a, b)| a > 0 && b > 0));
    }
}
