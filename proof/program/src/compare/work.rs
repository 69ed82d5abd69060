//! The program that is compared: a loop that no optimiser shortens and that needs no memory to
//! speak of, so that 1 % more loops take 1 % more time.

use std::hint::black_box;

/// So many rounds of 1,000 steps of a linear congruential generator (Knuth, MMIX).
pub fn work(loops: u64) -> u64 {
    let mut state = 1_u64;
    for _ in 0..black_box(loops) {
        for _ in 0..1_000 {
            let next = state.wrapping_mul(6_364_136_223_846_793_005);
            state = black_box(next.wrapping_add(1_442_695_040_888_963_407));
        }
    }
    state
}
