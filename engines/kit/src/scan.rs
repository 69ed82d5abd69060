//! One pass over a buffer that looks for several things at once, for each further pass costs as
//! much as the first.

use std::array::from_fn;

use crate::find::Pair;

/// More pairs than this are not looked for in one pass.
pub(crate) const MOST_PAIRS: usize = 33;
/// Bytes of a register.
const LANES: usize = 32;
/// Bytes between two looks at what was found.
const BLOCK: usize = 4 * LANES;

/// Whether this processor can do [`places`].
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_registers() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("popcnt")
}

/// Calls `each` with the places in `haystack` that have both bytes of a pair, in their order, and
/// with every place of the last few bytes; stops where it says false. Counts the newlines if asked
/// to, as far as it came.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn places(
    haystack: &[u8],
    pairs: &[Pair],
    count_newlines: bool,
    each: impl FnMut(usize) -> bool,
) -> u64 {
    // With their number known, the pairs stay in registers. The last one again changes nothing.
    let pair = |number: usize| pairs[number.min(pairs.len() - 1)];
    match pairs.len() {
        0 => rest(haystack, 0, each),
        1 => places_of::<1>(haystack, from_fn(pair), count_newlines, each),
        2 => places_of::<2>(haystack, from_fn(pair), count_newlines, each),
        3 => places_of::<3>(haystack, from_fn(pair), count_newlines, each),
        4..=5 => places_of::<5>(haystack, from_fn(pair), count_newlines, each),
        6..=9 => places_of::<9>(haystack, from_fn(pair), count_newlines, each),
        10..=MOST_PAIRS => places_of::<MOST_PAIRS>(haystack, from_fn(pair), count_newlines, each),
        _ => rest(haystack, 0, each),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
#[expect(unsafe_code, reason = "loads 32 bytes of a slice into a register")]
fn places_of<const N: usize>(
    haystack: &[u8],
    pairs: [Pair; N],
    count_newlines: bool,
    mut each: impl FnMut(usize) -> bool,
) -> u64 {
    use std::arch::x86_64::{
        _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
    };
    let reach = pairs.iter().flatten().map(|probe| probe.offset).max().unwrap_or(0);
    let splat = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let pairs =
        pairs.map(|pair| pair.map(|probe| (probe.offset, splat(probe.byte), splat(probe.mask))));
    let newline = splat(b'\n');
    let (mut at, mut newlines) = (0, 0);
    while at + reach + BLOCK <= haystack.len() {
        let block = &haystack[at..at + reach + BLOCK];
        let load = |from: usize| {
            debug_assert!(from + LANES <= block.len());
            // SAFETY: `from` is a lane's place in the block plus at most `reach`, so the 32 bytes
            // lie in the slice; the load needs no alignment.
            unsafe { _mm256_loadu_si256(block.as_ptr().add(from).cast()) }
        };
        let mut masks = [0_u32; BLOCK / LANES];
        for (number, mask) in masks.iter_mut().enumerate() {
            let lane = number * LANES;
            let mut any = _mm256_setzero_si256();
            for &[(first, first_byte, first_mask), (second, second_byte, second_mask)] in &pairs {
                // Spelled out: what takes a closure does not know these registers.
                let first = _mm256_or_si256(load(lane + first), first_mask);
                let second = _mm256_or_si256(load(lane + second), second_mask);
                let first = _mm256_cmpeq_epi8(first, first_byte);
                let second = _mm256_cmpeq_epi8(second, second_byte);
                any = _mm256_or_si256(any, _mm256_and_si256(first, second));
            }
            if count_newlines {
                let lanes = _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(lane), newline));
                newlines += u64::from(lanes.cast_unsigned().count_ones());
            }
            *mask = _mm256_movemask_epi8(any).cast_unsigned();
        }
        if masks.iter().fold(0, |all, mask| all | mask) != 0 {
            for (number, mut mask) in masks.into_iter().enumerate() {
                while mask != 0 {
                    if !each(at + number * LANES + mask.trailing_zeros() as usize) {
                        return newlines;
                    }
                    mask &= mask - 1;
                }
            }
        }
        at += BLOCK;
    }
    newlines + rest(haystack, at, each)
}

/// The same where the processor has no such registers: every place is one.
pub(crate) fn rest(haystack: &[u8], from: usize, mut each: impl FnMut(usize) -> bool) -> u64 {
    let mut newlines = 0;
    for (at, &byte) in haystack.iter().enumerate().skip(from) {
        newlines += u64::from(byte == b'\n');
        if !each(at) {
            break;
        }
    }
    newlines
}
