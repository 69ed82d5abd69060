//! One pass over a buffer that looks for several things at once, for each further pass costs as
//! much as the first.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_testz_si256,
};

use crate::find::{Probe, Trigrams};

mod newlines;

#[cfg(target_arch = "x86_64")]
use newlines::Newlines;
pub use newlines::count_newlines;
pub(crate) use newlines::{newline_before, newline_from};

/// Bytes of a needle that are looked for. Two of a word of frequent letters are too many places.
pub(crate) const PROBES: usize = 3;
/// What is looked for of a needle.
pub(crate) type Probes = [Probe; PROBES];
/// Bytes of a register.
const LANES: usize = 32;
/// Bytes between two looks at what was found.
const BLOCK: usize = 4 * LANES;
/// Blocks after which a byte that counts newlines, up to four a block, could overflow.
const COUNTED_BLOCKS: u32 = 255 / 4;
/// How far behind a backslash is looked: the first `X` of `\u00XX`.
const ESCAPE_REACH: usize = 4;

/// Whether this processor can do [`probed`] and [`trigrams`].
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_registers() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("popcnt") && has!("bmi1")
}

/// Where something may be, and in which of the needles' buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) buckets: u8,
}

/// As many places are collected at least before somebody looks at them.
const PLACES: usize = 4096;

/// What a pass collects: places in their order, and how many newlines lie before `at`.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    pub(crate) places: Vec<Place>,
    pub(crate) newlines: u64,
    /// Where the next pass goes on.
    pub(crate) at: usize,
    /// Whether every `\\u` may be looked at, and newlines need not be counted.
    pub(crate) has_few_escapes: bool,
}

impl Pass {
    /// Every byte of a haystack that is left: there is no room for a register behind them.
    pub(crate) fn rest(&mut self, haystack: &[u8]) {
        let rest = &haystack[self.at..];
        self.newlines += rest.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let places = (self.at..haystack.len()).map(|at| Place { at, buckets: u8::MAX });
        self.places.extend(places);
        self.at = haystack.len();
    }
}

/// Collects the places in `haystack` that have all probes of a needle, in their order; also those
/// where a `\u00XX` may begin. Newlines are counted, too: what is in a register already costs
/// little more. One pass ends early where it has collected many.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn probed(haystack: &[u8], needle: &Probes, pass: &mut Pass) {
    let [.., before, last] = needle;
    // What is looked for as it is needs no mask, and where two bytes are rare a third one only adds
    // work.
    let folds = needle.iter().any(|probe| probe.mask != 0);
    match (folds, before.offset == last.offset) {
        (true, true) => probed_by::<true, 2>(haystack, needle, pass),
        (true, false) => probed_by::<true, PROBES>(haystack, needle, pass),
        (false, true) => probed_by::<false, 2>(haystack, needle, pass),
        (false, false) => probed_by::<false, PROBES>(haystack, needle, pass),
    }
}

/// Two bytes of a needle that follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) probes: [Probe; 2],
}

/// Collects the places of a needle's pair, and of every `\u`, which are few: what is loaded for the
/// one is compared for the other too. Newlines are not counted.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn paired(haystack: &[u8], pair: &Pair, pass: &mut Pass) {
    let folds = pair.probes.iter().any(|probe| probe.mask != 0);
    let blocks = if folds { paired_blocks::<true> } else { paired_blocks::<false> };
    blocks(haystack, pair, PLACES, pass);
    if pass.places.len() >= PLACES {
        return;
    }
    let Some(tail) = Tail::of(haystack, ESCAPE_REACH, pass) else { return pass.rest(haystack) };
    blocks(&tail.bytes[..tail.length], pair, usize::MAX, pass);
    tail.end(haystack, pass);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn paired_blocks<const FOLDS: bool>(haystack: &[u8], pair: &Pair, most: usize, pass: &mut Pass) {
    let [first, second] = pair.probes;
    let (mask, other_mask) = (splat(first.mask), splat(second.mask));
    let (byte, other) = (splat(first.byte), splat(second.byte));
    let (backslash, u) = (splat(b'\\'), splat(b'u'));
    let mut at = pass.at;
    while at + ESCAPE_REACH + BLOCK <= haystack.len() && pass.places.len() < most {
        let block = &haystack[at..at + ESCAPE_REACH + BLOCK];
        let mut found = [_mm256_setzero_si256(); BLOCK / LANES];
        for (number, any) in found.iter_mut().enumerate() {
            let (here, next) = (load(block, number * LANES), load(block, number * LANES + 1));
            let escape =
                _mm256_and_si256(_mm256_cmpeq_epi8(here, backslash), _mm256_cmpeq_epi8(next, u));
            let (here, next) = match FOLDS {
                true => (_mm256_or_si256(here, mask), _mm256_or_si256(next, other_mask)),
                false => (here, next),
            };
            let pair =
                _mm256_and_si256(_mm256_cmpeq_epi8(here, byte), _mm256_cmpeq_epi8(next, other));
            *any = _mm256_or_si256(pair, escape);
        }
        if any_of(&found) {
            collect(&found, at, pass);
        }
        at += BLOCK;
    }
    pass.at = at;
}

/// The places of a block that are marked.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn collect(found: &[__m256i; BLOCK / LANES], at: usize, pass: &mut Pass) {
    for (number, any) in found.iter().enumerate() {
        let mut mask = _mm256_movemask_epi8(*any).cast_unsigned();
        while mask != 0 {
            let at = at + number * LANES + mask.trailing_zeros() as usize;
            pass.places.push(Place { at, buckets: u8::MAX });
            mask &= mask - 1;
        }
    }
}

/// The end of a haystack, with zeros behind it where a register's bytes have no room.
#[cfg(target_arch = "x86_64")]
struct Tail {
    bytes: [u8; TAIL],
    length: usize,
    /// Where it begins in the haystack.
    base: usize,
    /// How many places lie before it.
    places: usize,
}

/// Bytes of an end, and as many behind it as a needle reaches.
const TAIL: usize = 1024;

#[cfg(target_arch = "x86_64")]
impl Tail {
    /// Begins with the pass's place in `haystack`; `None` where a needle reaches too far.
    fn of(haystack: &[u8], reach: usize, pass: &mut Pass) -> Option<Self> {
        let rest = &haystack[pass.at..];
        let length = rest.len().next_multiple_of(BLOCK) + reach;
        let mut bytes = [0; TAIL];
        bytes.get(..length)?;
        bytes[..rest.len()].copy_from_slice(rest);
        let tail = Self { bytes, length, base: pass.at, places: pass.places.len() };
        pass.at = 0;
        Some(tail)
    }

    fn end(&self, haystack: &[u8], pass: &mut Pass) {
        pass.places[self.places..].iter_mut().for_each(|place| place.at += self.base);
        pass.at = haystack.len();
    }
}

/// A probe in registers.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Wide {
    offset: usize,
    byte: __m256i,
    mask: __m256i,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn probed_by<const FOLDS: bool, const COUNT: usize>(
    haystack: &[u8],
    needle: &Probes,
    pass: &mut Pass,
) {
    let none = Wide { offset: 0, byte: _mm256_setzero_si256(), mask: _mm256_setzero_si256() };
    // Spelled out, as all below: what takes a closure does not know these registers.
    let mut wide = [none; COUNT];
    let mut reach = ESCAPE_REACH;
    for (wide, probe) in wide.iter_mut().zip(needle) {
        let (byte, mask) = (probe.byte.cast_signed(), probe.mask.cast_signed());
        let (byte, mask) = (_mm256_set1_epi8(byte), _mm256_set1_epi8(mask));
        *wide = Wide { offset: probe.offset, byte, mask };
        reach = reach.max(probe.offset);
    }
    probed_blocks::<FOLDS, COUNT>(haystack, &wide, reach, PLACES, pass);
    if pass.places.len() >= PLACES {
        return;
    }
    let Some(tail) = Tail::of(haystack, reach, pass) else { return pass.rest(haystack) };
    probed_blocks::<FOLDS, COUNT>(&tail.bytes[..tail.length], &wide, reach, usize::MAX, pass);
    tail.end(haystack, pass);
}

/// As far as there are whole blocks with `reach` bytes behind them, or `most` places are found.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn probed_blocks<const FOLDS: bool, const COUNT: usize>(
    haystack: &[u8],
    wide: &[Wide; COUNT],
    reach: usize,
    most: usize,
    pass: &mut Pass,
) {
    let mut newlines = Newlines::new();
    let mut at = pass.at;
    while at + reach + BLOCK <= haystack.len() && pass.places.len() < most {
        let block = &haystack[at..at + reach + BLOCK];
        fetch_ahead(haystack, at);
        let mut found = [_mm256_setzero_si256(); BLOCK / LANES];
        for (number, any) in found.iter_mut().enumerate() {
            let lane = number * LANES;
            let mut all = _mm256_set1_epi8(-1);
            for probe in wide {
                let mut here = load(block, lane + probe.offset);
                if FOLDS {
                    here = _mm256_or_si256(here, probe.mask);
                }
                all = _mm256_and_si256(all, _mm256_cmpeq_epi8(here, probe.byte));
            }
            *any = _mm256_or_si256(all, escapes(block, lane));
            newlines.count(load(block, lane));
        }
        newlines.end_block();
        if any_of(&found) {
            collect(&found, at, pass);
        }
        at += BLOCK;
    }
    pass.newlines += newlines.sum();
    pass.at = at;
}

/// As [`probed`], with the places whose three bytes may be those of a needle's window, and
/// the buckets in which that needle may be (Teddy, of Hyperscan: Wang et al., NSDI 2019).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn trigrams(haystack: &[u8], trigrams: &Trigrams, pass: &mut Pass) {
    match pass.has_few_escapes {
        true => trigrams_by::<true>(haystack, trigrams, pass),
        false => trigrams_by::<false>(haystack, trigrams, pass),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn trigrams_by<const FEW: bool>(haystack: &[u8], trigrams: &Trigrams, pass: &mut Pass) {
    let mut tables = [[_mm256_setzero_si256(); 2]; 3];
    for (wide, table) in tables.iter_mut().zip(trigrams.tables()) {
        for (wide, half) in wide.iter_mut().zip(table) {
            *wide = both(half);
        }
    }
    trigram_blocks::<FEW>(haystack, &tables, PLACES, pass);
    if pass.places.len() >= PLACES {
        return;
    }
    let Some(tail) = Tail::of(haystack, ESCAPE_REACH, pass) else { return pass.rest(haystack) };
    trigram_blocks::<FEW>(&tail.bytes[..tail.length], &tables, usize::MAX, pass);
    tail.end(haystack, pass);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn trigram_blocks<const FEW: bool>(
    haystack: &[u8],
    tables: &[[__m256i; 2]; 3],
    most: usize,
    pass: &mut Pass,
) {
    let low = _mm256_set1_epi8(0x0f);
    let mut newlines = Newlines::new();
    let mut at = pass.at;
    while at + ESCAPE_REACH + BLOCK <= haystack.len() && pass.places.len() < most {
        let block = &haystack[at..at + ESCAPE_REACH + BLOCK];
        fetch_ahead(haystack, at);
        let mut found = [_mm256_setzero_si256(); BLOCK / LANES];
        for (number, any) in found.iter_mut().enumerate() {
            let lane = number * LANES;
            let mut buckets = _mm256_set1_epi8(-1);
            let all = [load(block, lane), load(block, lane + 1), load(block, lane + 2)];
            for (&here, [lower, upper]) in all.iter().zip(tables) {
                let lower = _mm256_shuffle_epi8(*lower, _mm256_and_si256(here, low));
                let above = _mm256_and_si256(_mm256_srli_epi16::<4>(here), low);
                let upper = _mm256_shuffle_epi8(*upper, above);
                buckets = _mm256_and_si256(buckets, _mm256_and_si256(lower, upper));
            }
            let escapes = match FEW {
                true => {
                    let [here, next, _] = all;
                    let backslash = _mm256_cmpeq_epi8(here, splat(b'\\'));
                    _mm256_and_si256(backslash, _mm256_cmpeq_epi8(next, splat(b'u')))
                }
                false => escapes(block, lane),
            };
            // An escape counts for all buckets.
            *any = _mm256_or_si256(buckets, escapes);
            if !FEW {
                newlines.count(all[0]);
            }
        }
        newlines.end_block();
        if any_of(&found) {
            for (number, any) in found.iter().enumerate() {
                let nothing = _mm256_cmpeq_epi8(*any, _mm256_setzero_si256());
                let mut mask = !_mm256_movemask_epi8(nothing).cast_unsigned();
                if mask == 0 {
                    continue;
                }
                let buckets = store(*any);
                while mask != 0 {
                    let lane = mask.trailing_zeros() as usize;
                    let at = at + number * LANES + lane;
                    pass.places.push(Place { at, buckets: buckets[lane] });
                    mask &= mask - 1;
                }
            }
        }
        at += BLOCK;
    }
    pass.newlines += newlines.sum();
    pass.at = at;
}

/// Where a `\u00XX` may begin that a needle's character may hide in: a `u` behind it, the second
/// zero, and no control character, of which logs have many (`\u001b`) and needles none. Few places
/// have all three.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn escapes(block: &[u8], lane: usize) -> __m256i {
    let u = _mm256_cmpeq_epi8(load(block, lane + 1), splat(b'u'));
    let zero = _mm256_cmpeq_epi8(load(block, lane + 3), splat(b'0'));
    let shown = _mm256_cmpgt_epi8(load(block, lane + ESCAPE_REACH), splat(b'1'));
    _mm256_and_si256(_mm256_and_si256(u, zero), shown)
}

/// How far ahead memory is fetched: the processor's own prefetcher stops at a page's end (Intel 64
/// and IA-32 Architectures Optimization Reference Manual, on hardware prefetching).
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// Begins to fetch the lines of memory that a block lies in that comes later.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "gives the processor a hint")]
pub(crate) fn fetch_ahead(haystack: &[u8], at: usize) {
    let ahead = haystack.as_ptr().wrapping_add(at + AHEAD).cast::<i8>();
    for line in [0, 64] {
        // SAFETY: a hint reads nothing and faults nowhere, also behind the slice's end.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(line)) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fetch_ahead(_haystack: &[u8], _at: usize) {}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "loads 32 bytes of a slice into a register")]
fn load(block: &[u8], from: usize) -> __m256i {
    debug_assert!(from + LANES <= block.len());
    // SAFETY: `from` is a lane's place in a block plus at most its reach, which the block has
    // behind its last lane, so the 32 bytes lie in the slice; the load needs no alignment.
    unsafe { _mm256_loadu_si256(block.as_ptr().add(from).cast()) }
}

/// A table in both halves of a register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "loads an array into a register")]
fn both(table: &[u8; 16]) -> __m256i {
    // SAFETY: the array has as many bytes as are loaded; the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "stores a register into an array")]
fn store(register: __m256i) -> [u8; LANES] {
    let mut bytes = [0; LANES];
    // SAFETY: the array has as many bytes as are stored; the store needs no alignment.
    unsafe { std::arch::x86_64::_mm256_storeu_si256(bytes.as_mut_ptr().cast(), register) };
    bytes
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn any_of(found: &[__m256i; BLOCK / LANES]) -> bool {
    let [a, b, c, d] = *found;
    let all = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
    _mm256_testz_si256(all, all) == 0
}
