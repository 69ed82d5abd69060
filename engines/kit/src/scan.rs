//! One pass over a buffer that looks for several things at once, for each further pass costs as
//! much as the first.

use std::array::from_fn;

use crate::find::Pair;

/// More pairs than this are not looked for in one pass.
pub(crate) const MOST_PAIRS: usize = 32;
/// Bytes of a register.
const LANES: usize = 32;
/// Bytes between two looks at what was found.
const BLOCK: usize = 4 * LANES;
/// Blocks after which a byte that counts newlines, up to four a block, could overflow.
const COUNTED_BLOCKS: u32 = 255 / 4;

/// Whether this processor can do [`places`].
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_registers() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("popcnt")
}

/// Calls `each` with the places in `haystack` that have both bytes of a pair, in their order, and
/// with every place of the last few bytes; stops where it says false. Of `lines` it is also called
/// with where a `\u` begins, and newlines are counted, as far as it came: what is in a register
/// already costs little more.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn places(
    haystack: &[u8],
    pairs: &[Pair],
    lines: bool,
    each: impl FnMut(usize) -> bool,
) -> u64 {
    // With their number known, the pairs stay in registers. The last one again changes nothing.
    let pair = |number: usize| pairs[number.min(pairs.len() - 1)];
    // What is looked for as it is needs no mask, which is a fifth of the work.
    let folds = pairs.iter().flatten().any(|probe| probe.mask != 0);
    match (pairs.len(), folds) {
        (0, _) => rest(haystack, 0, each),
        (1, false) => places_of::<1, false>(haystack, from_fn(pair), lines, each),
        (1, true) => places_of::<1, true>(haystack, from_fn(pair), lines, each),
        (2, _) => places_of::<2, true>(haystack, from_fn(pair), lines, each),
        (3..=4, _) => places_of::<4, true>(haystack, from_fn(pair), lines, each),
        (5..=8, _) => places_of::<8, true>(haystack, from_fn(pair), lines, each),
        (9..=MOST_PAIRS, _) => places_of::<MOST_PAIRS, true>(haystack, from_fn(pair), lines, each),
        _ => rest(haystack, 0, each),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
#[expect(unsafe_code, reason = "loads 32 bytes of a slice into a register")]
fn places_of<const N: usize, const FOLDS: bool>(
    haystack: &[u8],
    pairs: [Pair; N],
    lines: bool,
    mut each: impl FnMut(usize) -> bool,
) -> u64 {
    use std::arch::x86_64::{
        _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_sub_epi8,
        _mm256_testz_si256,
    };
    let reach = pairs.iter().flatten().map(|probe| probe.offset).max().unwrap_or(0).max(1);
    let splat = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let pairs =
        pairs.map(|pair| pair.map(|probe| (probe.offset, splat(probe.byte), splat(probe.mask))));
    let (newline, backslash, u) = (splat(b'\n'), splat(b'\\'), splat(b'u'));
    let (mut at, mut newlines) = (0, 0);
    // Newlines by place in the register.
    let (mut counted, mut blocks) = (_mm256_setzero_si256(), 0);
    while at + reach + BLOCK <= haystack.len() {
        let block = &haystack[at..at + reach + BLOCK];
        let load = |from: usize| {
            debug_assert!(from + LANES <= block.len());
            // SAFETY: `from` is a lane's place in the block plus at most `reach`, so the 32 bytes
            // lie in the slice; the load needs no alignment.
            unsafe { _mm256_loadu_si256(block.as_ptr().add(from).cast()) }
        };
        let mut found = [_mm256_setzero_si256(); BLOCK / LANES];
        for (number, any) in found.iter_mut().enumerate() {
            let lane = number * LANES;
            for &[(first, first_byte, first_mask), (second, second_byte, second_mask)] in &pairs {
                // Spelled out: what takes a closure does not know these registers.
                let (mut first, mut second) = (load(lane + first), load(lane + second));
                if FOLDS {
                    first = _mm256_or_si256(first, first_mask);
                    second = _mm256_or_si256(second, second_mask);
                }
                let first = _mm256_cmpeq_epi8(first, first_byte);
                let second = _mm256_cmpeq_epi8(second, second_byte);
                *any = _mm256_or_si256(*any, _mm256_and_si256(first, second));
            }
            if lines {
                let here = load(lane);
                let escape = _mm256_cmpeq_epi8(here, backslash);
                let escape = _mm256_and_si256(escape, _mm256_cmpeq_epi8(load(lane + 1), u));
                *any = _mm256_or_si256(*any, escape);
                // A byte that is equal becomes -1.
                counted = _mm256_sub_epi8(counted, _mm256_cmpeq_epi8(here, newline));
            }
        }
        blocks += 1;
        if blocks == COUNTED_BLOCKS {
            newlines += sum(counted);
            (counted, blocks) = (_mm256_setzero_si256(), 0);
        }
        let all = _mm256_or_si256(
            _mm256_or_si256(found[0], found[1]),
            _mm256_or_si256(found[2], found[3]),
        );
        if _mm256_testz_si256(all, all) == 0 {
            for (number, any) in found.into_iter().enumerate() {
                let mut mask = _mm256_movemask_epi8(any).cast_unsigned();
                while mask != 0 {
                    if !each(at + number * LANES + mask.trailing_zeros() as usize) {
                        return newlines + sum(counted);
                    }
                    mask &= mask - 1;
                }
            }
        }
        at += BLOCK;
    }
    newlines + sum(counted) + rest(haystack, at, each)
}

/// The sum of a register's 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum(bytes: std::arch::x86_64::__m256i) -> u64 {
    use std::arch::x86_64::{_mm256_extract_epi64, _mm256_sad_epu8, _mm256_setzero_si256};
    let sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
    let [a, b, c, d] = [
        _mm256_extract_epi64::<0>(sums),
        _mm256_extract_epi64::<1>(sums),
        _mm256_extract_epi64::<2>(sums),
        _mm256_extract_epi64::<3>(sums),
    ];
    (a + b + c + d).cast_unsigned()
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
