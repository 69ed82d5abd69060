//! Substring search over bytes, with and without regard to ASCII case.

use memchr::{memchr2_iter, memmem};

/// Bytes from frequent to rare in chat sessions as JSON Lines; what is not here is rarer. Only a
/// guess about speed depends on it.
const FREQUENT: &[u8] = b" e\"taoinsrl:,d-cuhmpf0g1y{}/2w.b3v4_5k6879\\[]x";

/// A literal that is searched for.
#[derive(Debug, Clone)]
pub(crate) enum Finder {
    /// Byte for byte.
    Exact(Box<memmem::Finder<'static>>),
    /// ASCII letters in either case.
    Fold(Fold),
}

impl Finder {
    pub(crate) fn exact(needle: &str) -> Self {
        Self::Exact(Box::new(memmem::Finder::new(needle.as_bytes()).into_owned()))
    }

    pub(crate) fn fold(needle: &str) -> Self {
        if needle.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            Self::Fold(Fold::new(needle))
        } else {
            Self::exact(needle)
        }
    }

    /// Where it is first found.
    pub(crate) fn find(&self, haystack: &[u8]) -> Option<usize> {
        match self {
            Self::Exact(finder) => finder.find(haystack),
            Self::Fold(fold) => fold.find(haystack),
        }
    }

    /// The needle, in lower case where case does not matter.
    pub(crate) fn needle(&self) -> &[u8] {
        match self {
            Self::Exact(finder) => finder.needle(),
            Self::Fold(fold) => &fold.needle,
        }
    }

    /// About how many bits of surprise an occurrence is: the more, the rarer.
    pub(crate) fn surprise(&self) -> u32 {
        self.needle().iter().map(|&byte| 3 + rarity(byte) / 8).sum()
    }
}

/// A needle in lower case, looked for by its two rarest bytes ("packed pair", as memchr's memmem
/// does it for one case).
#[derive(Debug, Clone)]
pub(crate) struct Fold {
    needle: Vec<u8>,
    pair: [Probe; 2],
}

/// A byte of the needle: `haystack[start + offset] | mask == byte`. The mask folds a letter's two
/// cases into one and nothing else, for 0x20 is the only bit in which they differ.
#[derive(Debug, Clone, Copy)]
struct Probe {
    offset: usize,
    byte: u8,
    mask: u8,
}

impl Fold {
    fn new(needle: &str) -> Self {
        let needle = needle.as_bytes().to_ascii_lowercase();
        let mut offsets: Vec<usize> = (0..needle.len()).collect();
        offsets.sort_by_key(|&offset| std::cmp::Reverse(rarity(needle[offset])));
        let probe = |rank: usize| {
            let offset = offsets[rank.min(offsets.len() - 1)];
            let byte = needle[offset];
            let mask = if byte.is_ascii_alphabetic() { 0x20 } else { 0 };
            Probe { offset, byte, mask }
        };
        let pair = [probe(0), probe(1)];
        Self { needle, pair }
    }

    fn find(&self, haystack: &[u8]) -> Option<usize> {
        let starts = (haystack.len() + 1).checked_sub(self.needle.len())?;
        if self.needle.len() == 1 {
            let byte = self.needle[0];
            return memchr2_iter(byte, byte.to_ascii_uppercase(), haystack).next();
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as the line above made sure.
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            return unsafe { self.find_avx2(haystack, starts) };
        }
        self.find_from(haystack, 0, starts)
    }

    /// Byte by byte among the starts in `from..starts`.
    fn find_from(&self, haystack: &[u8], from: usize, starts: usize) -> Option<usize> {
        (from..starts).find(|&start| self.is_at(haystack, start))
    }

    fn is_at(&self, haystack: &[u8], start: usize) -> bool {
        haystack[start..start + self.needle.len()].eq_ignore_ascii_case(&self.needle)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    #[expect(unsafe_code, reason = "loads 32 bytes of a slice into a register")]
    fn find_avx2(&self, haystack: &[u8], starts: usize) -> Option<usize> {
        use std::arch::x86_64::{
            __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
            _mm256_or_si256, _mm256_set1_epi8,
        };
        const LANES: usize = 32;
        let splat = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
        let probes = self.pair.map(|probe| (probe.offset, splat(probe.byte), splat(probe.mask)));
        let equal = |at: usize, (offset, byte, mask): (usize, __m256i, __m256i)| {
            let lanes: &[u8; LANES] = haystack[at + offset..].first_chunk().expect("in bounds");
            // SAFETY: `lanes` is 32 readable bytes, and the load needs no alignment.
            let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
            _mm256_cmpeq_epi8(_mm256_or_si256(lanes, mask), byte)
        };
        let both = |at| _mm256_and_si256(equal(at, probes[0]), equal(at, probes[1]));
        let mut at = 0;
        // Both offsets lie in the needle, so a start below `starts` has its 32 bytes in bounds.
        while at + LANES <= starts {
            let mut lanes = _mm256_movemask_epi8(both(at)).cast_unsigned();
            while lanes != 0 {
                let start = at + lanes.trailing_zeros() as usize;
                if self.is_at(haystack, start) {
                    return Some(start);
                }
                lanes &= lanes - 1;
            }
            at += LANES;
        }
        self.find_from(haystack, at, starts)
    }
}

/// 0 for the most frequent byte.
fn rarity(byte: u8) -> u32 {
    let folded = byte.to_ascii_lowercase();
    FREQUENT.iter().position(|&frequent| frequent == folded).unwrap_or(FREQUENT.len()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(haystack: &[u8], needle: &[u8]) -> Option<usize> {
        haystack.windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle))
    }

    #[test]
    fn a_letter_folds_and_its_neighbour_does_not() {
        let finder = Finder::fold("k[");
        assert_eq!(finder.find(b"..K["), Some(2));
        // `{` is `[` with the bit that letters differ in.
        assert_eq!(finder.find(b"..K{"), None);
        assert_eq!(Finder::fold("a").find(b"xxA"), Some(2));
    }

    proptest! {
        #[test]
        fn fold_finds_what_a_naive_search_finds(
            haystack in "[aAbB\\[{@`é]{0,200}",
            needle in "[abAB\\[{@`]{1,5}",
        ) {
            let found = Finder::fold(&needle).find(haystack.as_bytes());
            prop_assert_eq!(found, naive(haystack.as_bytes(), needle.as_bytes()));
        }
    }
}
