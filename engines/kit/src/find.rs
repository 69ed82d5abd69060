//! Literals in bytes: one in a text, or any of several in a whole buffer in a single pass.

use memchr::memmem;

/// Bytes from frequent to rare in chat sessions as JSON Lines; what is not here is rarer. Only a
/// guess about speed depends on it.
const FREQUENT: &[u8] = b" e\"taoinsrl:,d-cuhmpf0g1y{}/2w.b3v4_5k6879\\[]x";

/// A literal that is searched for.
#[derive(Debug, Clone)]
pub(crate) struct Finder {
    /// In lower case where the case of ASCII letters does not matter.
    needle: Vec<u8>,
    /// `None` where it does not matter.
    exact: Option<Box<memmem::Finder<'static>>>,
    pair: Pair,
}

/// The two rarest bytes of a needle: few places have both ("packed pair", as memchr's memmem has
/// it for one case).
pub(crate) type Pair = [Probe; 2];

/// A byte of the needle: `haystack[start + offset] | mask == byte`. The mask folds a letter's two
/// cases into one and nothing else, for 0x20 is the only bit in which they differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) offset: usize,
    pub(crate) byte: u8,
    pub(crate) mask: u8,
}

impl Finder {
    pub(crate) fn exact(needle: &str) -> Self {
        let exact = Some(Box::new(memmem::Finder::new(needle.as_bytes()).into_owned()));
        Self { needle: needle.as_bytes().to_vec(), exact, pair: pair(needle.as_bytes(), false) }
    }

    pub(crate) fn fold(needle: &str) -> Self {
        if !needle.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return Self::exact(needle);
        }
        let needle = needle.as_bytes().to_ascii_lowercase();
        let pair = pair(&needle, true);
        Self { needle, exact: None, pair }
    }

    /// Where it is first found.
    pub(crate) fn find(&self, haystack: &[u8]) -> Option<usize> {
        if let Some(exact) = &self.exact {
            return exact.find(haystack);
        }
        #[cfg(target_arch = "x86_64")]
        if crate::scan::has_registers() {
            let mut found = None;
            let each = |start: usize| match self.is_at(haystack, start) {
                true => {
                    found = Some(start);
                    false
                }
                false => true,
            };
            // SAFETY: the processor can, as the line above made sure.
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            unsafe {
                crate::scan::places(haystack, &[self.pair], false, each)
            };
            return found;
        }
        (0..haystack.len()).find(|&start| self.is_at(haystack, start))
    }

    /// Whether it stands at `start`.
    #[inline]
    pub(crate) fn is_at(&self, haystack: &[u8], start: usize) -> bool {
        let Some(found) = haystack.get(start..start + self.needle.len()) else { return false };
        match self.exact {
            Some(_) => found == self.needle,
            None => found.eq_ignore_ascii_case(&self.needle),
        }
    }

    pub(crate) fn needle(&self) -> &[u8] {
        &self.needle
    }

    pub(crate) fn pair(&self) -> Pair {
        self.pair
    }

    /// About how many bits of surprise an occurrence is: the more, the rarer.
    pub(crate) fn surprise(&self) -> u32 {
        self.needle.iter().map(|&byte| 3 + rarity(byte) / 8).sum()
    }
}

fn pair(needle: &[u8], fold: bool) -> Pair {
    let mut offsets: Vec<usize> = (0..needle.len()).collect();
    offsets.sort_by_key(|&offset| std::cmp::Reverse(rarity(needle[offset])));
    [0, 1].map(|rank: usize| {
        let offset = offsets[rank.min(offsets.len() - 1)];
        let byte = needle[offset];
        let mask = if fold && byte.is_ascii_alphabetic() { 0x20 } else { 0 };
        Probe { offset, byte, mask }
    })
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
