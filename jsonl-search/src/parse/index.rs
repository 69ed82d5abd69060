//! Where a line's strings begin and end, found in one pass over registers (as in Langdale and
//! Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019).

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
};

/// Bits for each 64 bytes of a line: quotes that no backslash escapes, and backslashes.
#[derive(Debug, Default)]
pub(super) struct Quotes(Vec<[u64; 2]>);

/// What a pass over a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Its quotes; all of it is ASCII.
    Ascii,
    /// Its quotes.
    Quotes,
    /// Nothing: a look at each byte has to say what is wrong with it, for it has a control
    /// character or a bad escape, or this processor lacks the registers.
    Nothing,
}

impl Quotes {
    /// Reads a line.
    pub(super) fn read(&mut self, line: &[u8]) -> Seen {
        self.0.clear();
        #[cfg(target_arch = "x86_64")]
        if crate::scan::has_registers() {
            // SAFETY: the processor can, as the line above made sure.
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            return unsafe { read(line, &mut self.0) };
        }
        Seen::Nothing
    }

    /// The first quote at `at` or behind it, and whether there is a backslash before it.
    #[inline(always)]
    pub(super) fn next(&self, at: usize) -> Option<(usize, bool)> {
        let mut word = at / 64;
        let mut escapes = 0;
        let [quotes, backslashes] = *self.0.get(word)?;
        let seen = !0 << (at % 64);
        let (mut quotes, mut backslashes) = (quotes & seen, backslashes & seen);
        while quotes == 0 {
            escapes |= backslashes;
            word += 1;
            [quotes, backslashes] = *self.0.get(word)?;
        }
        escapes |= backslashes & ((quotes & quotes.wrapping_neg()) - 1);
        Some((word * 64 + quotes.trailing_zeros() as usize, escapes != 0))
    }
}

/// What goes from block to block.
#[cfg(target_arch = "x86_64")]
struct Carried {
    /// Whether the next block's first byte is escaped.
    is_escaped: u64,
    /// All bytes so far, together: whether one has its highest bit is all that matters.
    any: __m256i,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi1")]
fn read(line: &[u8], quotes: &mut Vec<[u64; 2]>) -> Seen {
    let (blocks, rest) = line.as_chunks::<64>();
    let mut last = [b' '; 64];
    last[..rest.len()].copy_from_slice(rest);
    quotes.resize(blocks.len() + 1, [0; 2]);
    let mut carried = Carried { is_escaped: 0, any: _mm256_setzero_si256() };
    for (number, (block, marks)) in blocks.iter().zip(&mut *quotes).enumerate() {
        let Some(seen) = marks_of(line, number, block, &mut carried) else { return Seen::Nothing };
        *marks = seen;
    }
    let seen = marks_of(line, blocks.len(), &last, &mut carried);
    let Some(seen) = seen else { return Seen::Nothing };
    quotes[blocks.len()] = seen;
    if _mm256_movemask_epi8(carried.any) == 0 { Seen::Ascii } else { Seen::Quotes }
}

/// The quotes that no backslash escapes and the backslashes of a block; `None` where something is
/// wrong with it.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,popcnt,bmi1")]
fn marks_of(
    line: &[u8],
    number: usize,
    block: &[u8; 64],
    carried: &mut Carried,
) -> Option<[u64; 2]> {
    let [low, high] = *block.as_chunks::<32>().0 else { unreachable!("64 are twice 32") };
    let (low, high) = (load(&low), load(&high));
    let quotes = equal(low, high, b'"');
    let backslashes = equal(low, high, b'\\');
    carried.any = _mm256_or_si256(carried.any, _mm256_or_si256(low, high));
    // A control character is less than a space.
    let least = _mm256_min_epu8(low, high);
    let controls = _mm256_cmpeq_epi8(_mm256_min_epu8(least, _mm256_set1_epi8(0x1f)), least);
    if _mm256_movemask_epi8(controls) != 0 {
        return None;
    }
    if backslashes | carried.is_escaped == 0 {
        return Some([quotes, 0]);
    }
    let escaped = escaped(backslashes, &mut carried.is_escaped);
    let other = bits(no_letter(low), no_letter(high));
    let mut us = equal(low, high, b'u') & escaped;
    if other & escaped != 0 {
        return None;
    }
    while us != 0 {
        if !is_unicode_escape(line, number * 64 + us.trailing_zeros() as usize) {
            return None;
        }
        us &= us - 1;
    }
    Some([quotes & !escaped, backslashes])
}

/// The bytes behind a backslash that is not escaped itself; `carry` goes from block to block.
fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    if backslashes == 0 {
        return std::mem::take(carry);
    }
    let backslashes = backslashes & !*carry;
    let follows = backslashes << 1 | *carry;
    let odd_starts = backslashes & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(backslashes);
    *carry = u64::from(overflow);
    (EVEN ^ (even_runs << 1)) & follows
}

/// Whether the `u` at `at`, behind a backslash, has four digits and is no half of a pair. The
/// second half of one is told from its first.
fn is_unicode_escape(line: &[u8], at: usize) -> bool {
    use super::cursor::unit;
    let is_low = |unit| matches!(unit, 0xdc00..=0xdfff);
    let is_high = |unit| matches!(unit, 0xd800..=0xdbff);
    let at_unit = |at: usize| line.get(at..).and_then(unit);
    match at_unit(at + 1) {
        None => false,
        Some(first) if is_high(first) => {
            line[at + 5..].starts_with(b"\\u") && at_unit(at + 7).is_some_and(is_low)
        }
        Some(second) if is_low(second) => {
            let before = at.checked_sub(6).filter(|&u| line[u] == b'u' && line[at - 1] == b'\\');
            before.and_then(|u| at_unit(u + 1)).is_some_and(is_high)
        }
        Some(_) => true,
    }
}

/// The letters `"\/bfnrtu` by their lower and upper halves: a bit for each upper half.
#[cfg(target_arch = "x86_64")]
const LETTERS: [[u8; 16]; 2] = [
    [0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1],
    [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0],
];

/// Which of 64 bytes are this one.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn equal(low: __m256i, high: __m256i, byte: u8) -> u64 {
    let byte = _mm256_set1_epi8(byte.cast_signed());
    bits(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
}

/// The highest bits of 64 bytes.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn bits(low: __m256i, high: __m256i) -> u64 {
    let [low, high] = [_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)];
    u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned())
}

/// Where a byte is that may not stand behind a backslash.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn no_letter(here: __m256i) -> __m256i {
    let halves = _mm256_and_si256(_mm256_srli_epi16::<4>(here), _mm256_set1_epi8(0x0f));
    let lower = _mm256_shuffle_epi8(table(&LETTERS[0]), here);
    let upper = _mm256_shuffle_epi8(table(&LETTERS[1]), halves);
    _mm256_cmpeq_epi8(_mm256_and_si256(lower, upper), _mm256_setzero_si256())
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "loads an array into a register")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the array has as many bytes as are loaded; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// A table in both halves of a register.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "loads an array into a register")]
fn table(of: &[u8; 16]) -> __m256i {
    // SAFETY: the array has as many bytes as are loaded; the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(of.as_ptr().cast()) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Which bytes are escaped, one after another.
    fn naive(bytes: &[u8]) -> Vec<bool> {
        let mut escapes = false;
        let each = bytes.iter().map(|&byte| {
            let is_escaped = escapes;
            escapes = byte == b'\\' && !is_escaped;
            is_escaped
        });
        each.collect()
    }

    proptest! {
        #[test]
        fn quotes_are_those_that_nothing_escapes(line in r#"([\\"a]|[bn]{60}){0,200}"#) {
            let mut quotes = Quotes::default();
            let bytes = line.as_bytes();
            // What a last backslash escapes is not there.
            let escaped = naive(&[bytes, b" "].concat());
            let is_quote = |&at: &usize| bytes[at] == b'"' && !escaped[at];
            let expected: Vec<usize> = (0..bytes.len()).filter(is_quote).collect();
            let bad = escaped[bytes.len()]
                || (0..bytes.len()).any(|at| escaped[at] && !b"\"\\bn".contains(&bytes[at]));
            if quotes.read(bytes) != Seen::Nothing {
                prop_assert!(!bad);
                let mut found = Vec::new();
                let mut from = 0;
                while let Some((at, has_escape)) = quotes.next(from) {
                    prop_assert_eq!(has_escape, bytes[from..at].contains(&b'\\'));
                    found.push(at);
                    from = at + 1;
                }
                prop_assert_eq!(found, expected);
            } else {
                prop_assert!(bad || !crate::scan::has_registers());
            }
        }
    }
}
