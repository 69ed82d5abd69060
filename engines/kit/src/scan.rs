//! One pass over a buffer that looks for several things at once, for each further pass costs as
//! much as the first.

use crate::find::{Pair, Probe};

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
#[inline]
#[expect(unsafe_code, reason = "loads 32 bytes of a slice into a register")]
pub(crate) fn places(
    haystack: &[u8],
    pairs: &[Pair],
    count_newlines: bool,
    mut each: impl FnMut(usize) -> bool,
) -> u64 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
    };
    const LANES: usize = 32;
    let reach = pairs.iter().flatten().map(|probe| probe.offset).max().unwrap_or(0);
    let load = |at: usize| {
        let lanes: &[u8; LANES] = haystack[at..].first_chunk().expect("in bounds");
        // SAFETY: `lanes` is 32 readable bytes, and the load needs no alignment.
        unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
    };
    let splat = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let equal = |at: usize, probe: &Probe| {
        let folded = _mm256_or_si256(load(at + probe.offset), splat(probe.mask));
        _mm256_cmpeq_epi8(folded, splat(probe.byte))
    };
    let newline = splat(b'\n');
    let (mut at, mut newlines) = (0, 0);
    while at + reach + LANES <= haystack.len() {
        let mut any: __m256i = _mm256_setzero_si256();
        for [first, second] in pairs {
            let both = _mm256_and_si256(equal(at, first), equal(at, second));
            any = _mm256_or_si256(any, both);
        }
        if count_newlines {
            let lanes = _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(at), newline));
            newlines += u64::from(lanes.cast_unsigned().count_ones());
        }
        let mut lanes = _mm256_movemask_epi8(any).cast_unsigned();
        while lanes != 0 {
            if !each(at + lanes.trailing_zeros() as usize) {
                return newlines;
            }
            lanes &= lanes - 1;
        }
        at += LANES;
    }
    newlines + rest(haystack, at, each)
}

/// The same where the processor has no such registers: every place is one.
pub(crate) fn rest(haystack: &[u8], from: usize, mut each: impl FnMut(usize) -> bool) -> u64 {
    let mut newlines = 0;
    for at in from..haystack.len() {
        newlines += u64::from(haystack[at] == b'\n');
        if !each(at) {
            break;
        }
    }
    newlines
}
