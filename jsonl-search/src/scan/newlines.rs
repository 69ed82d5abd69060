//! Newlines: how many there are, and the next one on either side.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_extract_epi64, _mm256_movemask_epi8, _mm256_sad_epu8,
    _mm256_setzero_si256, _mm256_sub_epi8,
};

use super::has_registers;
#[cfg(target_arch = "x86_64")]
use super::{BLOCK, COUNTED_BLOCKS, LANES, fetch_ahead, load, splat};

/// How many newlines there are: every byte is looked at once, as fast as memory brings it.
pub fn count_newlines(bytes: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_registers() {
        // SAFETY: the processor can, as the line above made sure.
        #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
        return unsafe { count_in_blocks(bytes) };
    }
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn count_in_blocks(bytes: &[u8]) -> u64 {
    let mut newlines = Newlines::new();
    let whole = bytes.len() / BLOCK * BLOCK;
    for at in (0..whole).step_by(BLOCK) {
        fetch_ahead(bytes, at);
        for lane in (0..BLOCK).step_by(LANES) {
            newlines.count(load(bytes, at + lane));
        }
        newlines.end_block();
    }
    newlines.sum() + memchr::memchr_iter(b'\n', &bytes[whole..]).count() as u64
}

/// Newlines by place in the register.
#[cfg(target_arch = "x86_64")]
pub(super) struct Newlines {
    total: u64,
    counted: __m256i,
    blocks: u32,
}

#[cfg(target_arch = "x86_64")]
impl Newlines {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new() -> Self {
        Self { total: 0, counted: _mm256_setzero_si256(), blocks: 0 }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn count(&mut self, here: __m256i) {
        // A byte that is equal becomes -1.
        self.counted = _mm256_sub_epi8(self.counted, _mm256_cmpeq_epi8(here, splat(b'\n')));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn end_block(&mut self) {
        self.blocks += 1;
        if self.blocks == COUNTED_BLOCKS {
            *self = Self { total: self.sum(), ..Self::new() };
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn sum(&self) -> u64 {
        let sums = _mm256_sad_epu8(self.counted, _mm256_setzero_si256());
        let [a, b, c, d] = [
            _mm256_extract_epi64::<0>(sums),
            _mm256_extract_epi64::<1>(sums),
            _mm256_extract_epi64::<2>(sums),
            _mm256_extract_epi64::<3>(sums),
        ];
        self.total + (a + b + c + d).cast_unsigned()
    }
}

/// The first newline at `from` or behind it.
pub(crate) fn newline_from(bytes: &[u8], from: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if has_registers() {
        // SAFETY: the processor can, as the line above made sure.
        #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
        return unsafe { first_newline(bytes, from) };
    }
    memchr::memchr(b'\n', &bytes[from..]).map(|at| from + at)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
fn first_newline(bytes: &[u8], mut from: usize) -> Option<usize> {
    while from + LANES <= bytes.len() {
        let mask = _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(bytes, from), splat(b'\n')));
        if mask != 0 {
            return Some(from + mask.trailing_zeros() as usize);
        }
        from += LANES;
    }
    bytes[from..].iter().position(|&byte| byte == b'\n').map(|at| from + at)
}

/// The last newline before `to`.
pub(crate) fn newline_before(bytes: &[u8], to: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if has_registers() {
        // SAFETY: the processor can, as the line above made sure.
        #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
        return unsafe { last_newline(bytes, to) };
    }
    memchr::memrchr(b'\n', &bytes[..to])
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn last_newline(bytes: &[u8], mut to: usize) -> Option<usize> {
    let bytes = &bytes[..to];
    while to >= LANES {
        let here = load(bytes, to - LANES);
        let mask = _mm256_movemask_epi8(_mm256_cmpeq_epi8(here, splat(b'\n'))).cast_unsigned();
        if mask != 0 {
            return Some(to - 1 - mask.leading_zeros() as usize);
        }
        to -= LANES;
    }
    bytes[..to].iter().rposition(|&byte| byte == b'\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn newlines_are_counted_in_blocks_and_behind_them(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..4_000),
        ) {
            let naive = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            prop_assert_eq!(count_newlines(&bytes), naive);
        }
    }
}
