//! Literals in bytes: one in a text, or any of several in a whole buffer in a single pass.

use std::sync::Arc;

use memchr::{memchr2_iter, memmem};

use crate::scan::{Pair, Place, Probes};
use crate::spelling::{Letters, is_spelled_at};

/// Bytes from frequent to rare in chat sessions as JSON Lines; what is not here is rarer. Only a
/// guess about speed depends on it, and what is searched soon gives a better one.
const FREQUENT: &[u8] = b" e\"taoinsrl:,d-cuhmpf0g1y{}/2w.b3v4_5k6879\\[]x";

/// How often each byte comes.
#[derive(Debug, Clone)]
pub(crate) struct Frequencies(Box<[u32; 256]>);

impl Frequencies {
    /// Before anything was read.
    pub(crate) fn guess() -> Self {
        let mut all = Box::new([1; 256]);
        for (rank, &byte) in FREQUENT.iter().enumerate() {
            // Zipf's law, roughly.
            all[usize::from(byte)] = 10_000 / (rank as u32 + 2);
            all[usize::from(byte.to_ascii_uppercase())] += 100 / (rank as u32 + 2);
        }
        Self(all)
    }

    /// Of a piece of what is searched.
    pub(crate) fn of(sample: &[u8]) -> Self {
        let mut all = Box::new([1; 256]);
        sample.iter().for_each(|&byte| all[usize::from(byte)] += 1);
        Self(all)
    }

    /// The share of a byte, or of a letter in both cases.
    fn share(&self, byte: u8, folds: bool) -> f64 {
        let all: u32 = self.0.iter().sum();
        f64::from(self.count(byte, folds)) / f64::from(all)
    }

    /// Of a byte, or of a letter in both cases.
    fn count(&self, byte: u8, folds: bool) -> u32 {
        let other = if folds { other_case(byte) } else { None };
        self.0[usize::from(byte)] + other.map_or(0, |other| self.0[usize::from(other)])
    }
}

fn other_case(byte: u8) -> Option<u8> {
    byte.is_ascii_alphabetic().then_some(byte ^ 0x20)
}

/// A literal that is searched for.
#[derive(Debug, Clone)]
pub(crate) struct Finder {
    /// In lower case where the case of ASCII letters does not matter.
    needle: Vec<u8>,
    /// `None` where it does not matter.
    exact: Option<Box<memmem::Finder<'static>>>,
    /// What the whole literal is, of which the needle is one spelling of the first letters.
    letters: Option<Arc<Letters>>,
    /// Its rarest bytes, the rarest first: few places have all ("packed pair", as memchr's memmem
    /// has it for two and one case). Where two are enough, the last comes twice.
    probes: Probes,
}

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
        let needle = needle.as_bytes();
        let exact = Some(Box::new(memmem::Finder::new(needle).into_owned()));
        let probes = probes(needle, false, &Frequencies::guess());
        Self { needle: needle.to_vec(), exact, letters: None, probes }
    }

    pub(crate) fn fold(needle: &str) -> Self {
        if !needle.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return Self::exact(needle);
        }
        let needle = needle.as_bytes().to_ascii_lowercase();
        let probes = probes(&needle, true, &Frequencies::guess());
        Self { needle, exact: None, letters: None, probes }
    }

    /// One spelling of how a literal begins. An occurrence is one of the whole literal, in any
    /// spelling of its other letters.
    pub(crate) fn spelling(beginning: &str, letters: Arc<Letters>) -> Self {
        let needle = beginning.as_bytes().to_ascii_lowercase();
        let probes = probes(&needle, true, &Frequencies::guess());
        Self { needle, exact: None, letters: Some(letters), probes }
    }

    /// Where it is first found.
    pub(crate) fn find(&self, haystack: &[u8]) -> Option<usize> {
        if let Some(exact) = &self.exact {
            return exact.find(haystack);
        }
        // By its rarest byte, in either case.
        let Probe { offset, byte, mask } = self.probes[0];
        let mut places = memchr2_iter(byte, byte ^ mask, haystack);
        places.find_map(|at| at.checked_sub(offset).filter(|&start| self.is_at(haystack, start)))
    }

    /// Whether it stands at `start`.
    #[inline]
    pub(crate) fn is_at(&self, haystack: &[u8], start: usize) -> bool {
        let Some(found) = haystack.get(start..start + self.needle.len()) else { return false };
        match (&self.exact, &self.letters) {
            (Some(_), _) => found == self.needle,
            (None, None) => found.eq_ignore_ascii_case(&self.needle),
            (None, Some(letters)) => {
                found.eq_ignore_ascii_case(&self.needle) && is_spelled_at(haystack, start, letters)
            }
        }
    }

    pub(crate) fn needle(&self) -> &[u8] {
        &self.needle
    }

    /// The characters of ASCII whose `\u00XX` may hide it.
    pub(crate) fn ascii(&self) -> Vec<u8> {
        match &self.letters {
            None => self.needle.iter().copied().filter(u8::is_ascii).collect(),
            Some(letters) => {
                let all = letters.iter().flatten().filter(|letter| letter.is_ascii());
                all.map(|&letter| letter as u8).collect()
            }
        }
    }

    pub(crate) fn probes(&self) -> Probes {
        self.probes
    }

    /// Two of its bytes that follow each other and are rare in a sample; `None` where none are.
    pub(crate) fn rare_pair(&self, sample: &[u8]) -> Option<Pair> {
        let probe = |offset: usize| {
            let byte = self.needle[offset];
            let folds = self.folds() && byte.is_ascii_alphabetic();
            Probe { offset, byte, mask: if folds { 0x20 } else { 0 } }
        };
        let pairs = (1..self.needle.len())
            .map(|offset| Pair { probes: [probe(offset - 1), probe(offset)] });
        let counted = pairs.map(|pair| (count_pairs(sample, pair), pair));
        let (count, pair) = counted.min_by_key(|(count, _)| *count)?;
        // Places that have the whole needle are looked at anyway.
        let own = (0..sample.len()).filter(|&start| self.is_at(sample, start)).count();
        is_rare(count.saturating_sub(own), sample).then_some(pair)
    }

    /// Looks for those of its bytes that are rare.
    pub(crate) fn tune(&mut self, frequencies: &Frequencies) {
        self.probes = probes(&self.needle, self.folds(), frequencies);
    }

    fn folds(&self) -> bool {
        self.exact.is_none()
    }

    /// About how many bits of surprise an occurrence is: the more, the rarer.
    pub(crate) fn surprise(&self) -> u32 {
        self.needle.iter().map(|&byte| 3 + rarity(byte) / 8).sum()
    }
}

/// So few places have two bytes that a third need not be looked for.
const FEW_PLACES: f64 = 1e-4;

/// Of a pair of bytes, in a sample.
fn count_pairs(sample: &[u8], pair: Pair) -> usize {
    let [first, second] = pair.probes;
    let is_it =
        |two: &[u8]| two[0] | first.mask == first.byte && two[1] | second.mask == second.byte;
    sample.windows(2).filter(|two| is_it(two)).count()
}

/// Whether `\\u` is, in a sample.
pub(crate) fn has_few_escapes(sample: &[u8]) -> bool {
    is_rare(memmem::find_iter(sample, b"\\u").count(), sample)
}

/// So few that to look at each place costs little beside the pass.
fn is_rare(count: usize, sample: &[u8]) -> bool {
    const ONE_IN: usize = 2048;
    count * ONE_IN <= sample.len()
}

fn probes(needle: &[u8], folds: bool, frequencies: &Frequencies) -> Probes {
    let mut offsets: Vec<usize> = (0..needle.len()).collect();
    offsets.sort_by_key(|&offset| frequencies.count(needle[offset], folds));
    let rarest = offsets.iter().take(2).map(|&offset| frequencies.share(needle[offset], folds));
    let enough = if rarest.product::<f64>() < FEW_PLACES { 2 } else { offsets.len() };
    std::array::from_fn(|rank| {
        let offset = offsets[rank.min(enough.min(offsets.len()) - 1)];
        let byte = needle[offset];
        let mask = if folds && byte.is_ascii_alphabetic() { 0x20 } else { 0 };
        Probe { offset, byte, mask }
    })
}

/// 0 for the most frequent byte.
fn rarity(byte: u8) -> u32 {
    let folded = byte.to_ascii_lowercase();
    FREQUENT.iter().position(|&frequent| frequent == folded).unwrap_or(FREQUENT.len()) as u32
}

/// Three bytes of each of several needles, by their halves: which needles' bytes may have it.
#[derive(Debug, Clone)]
pub(crate) struct Trigrams {
    tables: Box<[[[u8; 16]; 2]; 3]>,
    /// Where each needle's three bytes are in it.
    offsets: Vec<usize>,
}

/// Needles that share a bit share their false alarms.
const BUCKETS: usize = 8;

impl Trigrams {
    pub(crate) fn new(needles: &[Finder], frequencies: &Frequencies) -> Self {
        let mut tables = Box::new([[[0; 16]; 2]; 3]);
        let mut offsets = Vec::new();
        for (number, finder) in needles.iter().enumerate() {
            let (needle, folds) = (finder.needle(), finder.folds());
            let places = |&byte: &u8| u64::from(frequencies.count(byte, folds));
            let cost =
                |&offset: &usize| -> u64 { needle[offset..].iter().take(3).map(places).product() };
            let last = needle.len().saturating_sub(3);
            let offset = (0..=last).min_by_key(cost).unwrap_or(0);
            let bit = 1 << (number % BUCKETS);
            for (place, table) in tables.iter_mut().enumerate() {
                match needle.get(offset + place) {
                    // A shorter needle leaves it open what follows.
                    None => table.iter_mut().flatten().for_each(|bits| *bits |= bit),
                    Some(&byte) => {
                        let other = if folds { other_case(byte) } else { None };
                        for byte in other.into_iter().chain([byte]) {
                            table[0][usize::from(byte & 0x0f)] |= bit;
                            table[1][usize::from(byte >> 4)] |= bit;
                        }
                    }
                }
            }
            offsets.push(offset);
        }
        Self { tables, offsets }
    }

    pub(crate) fn tables(&self) -> &[[[u8; 16]; 2]; 3] {
        &self.tables
    }

    /// Where the needle begins that the three bytes at a place belong to.
    pub(crate) fn start(&self, haystack: &[u8], place: Place, needles: &[Finder]) -> Option<usize> {
        let each = needles.iter().zip(&self.offsets).enumerate();
        let mut possible = each.filter(|(number, _)| place.buckets >> (number % BUCKETS) & 1 == 1);
        possible.find_map(|(_, (finder, &offset))| {
            place.at.checked_sub(offset).filter(|&start| finder.is_at(haystack, start))
        })
    }
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
