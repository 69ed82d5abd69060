//! What a call says and how long each step takes, drawn from the call's seed alone.

use std::ops::Range;

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use crate::spec::ServerSpec;
use crate::wire::Piece;

/// Small and fixed: a text must be the same on every machine and in every release.
const WORDS: [&str; 32] = [
    " the",
    " of",
    " and",
    " performance",
    " data",
    " is",
    " a",
    " report",
    " with",
    " system",
    " to",
    " files",
    " in",
    " average",
    " analysis",
    " runtime",
    " results",
    " for",
    " latency",
    " show",
    " that",
    " each",
    " agent",
    " two",
    " concurrent",
    " faster",
    ".",
    ",",
    " than",
    " measured",
    " value",
    " token",
];

/// Streams of the generator, so that text, times and length of a seed do not depend on each other.
const TEXT_STREAM: u128 = 1;
const TIME_STREAM: u128 = 2;
const LENGTH_STREAM: u128 = 3;

/// The tokens of a reply, one word each.
pub fn tokens(seed: i64, count: usize) -> Vec<&'static str> {
    let mut random = Pcg64::new(u128::from(seed as u64), TEXT_STREAM);
    (0..count).map(|_| WORDS[random.random_range(0..WORDS.len() as u32) as usize]).collect()
}

/// The words as they leave, and the time of each piece: so many together, thoughts apart from the
/// answer. A piece takes as long as its tokens.
pub(crate) fn pieces(
    words: &[&str],
    work_ns: &[u64],
    thinking_tokens: usize,
    per_chunk: usize,
) -> (Vec<Piece>, Vec<u64>) {
    let thought = thinking_tokens.min(words.len());
    let ranges = |from: usize, to: usize| {
        (from..to).step_by(per_chunk).map(move |start| start..to.min(start + per_chunk))
    };
    let piece = |range: Range<usize>| {
        let (text, is_thought) = (words[range.clone()].concat(), range.start < thought);
        let work_ns: u64 = work_ns[range.clone()].iter().sum();
        (Piece { text, tokens: range.len(), is_thought }, work_ns)
    };
    ranges(0, thought).chain(ranges(thought, words.len())).map(piece).unzip()
}

/// How much a model says that may say as much as it likes: 16 to 527 tokens, by its seed.
pub fn own_length(seed: i64) -> usize {
    16 + Pcg64::new(u128::from(seed as u64), LENGTH_STREAM).random_range(0..512_u32) as usize
}

/// The time of each step in nanoseconds for a request that is alone: the prefill, which ends with
/// the first token, then one inter-token time for every further token. `time_scale` is applied.
///
/// Inter-token times are log-normal with mean 1/rate: the factor `exp(σz - σ²/2)` has mean 1
/// (Johnson, Kotz and Balakrishnan, "Continuous univariate distributions" 1, 2nd ed., ch. 14).
pub fn work_ns(seed: i64, steps: usize, spec: &ServerSpec) -> Vec<u64> {
    let mut random = Pcg64::new(u128::from(seed as u64), TIME_STREAM);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let ttft_ns = spec.ttft_ms.median * 1e6 * (spec.ttft_ms.sigma_log * normal()).exp();
    let gap_ns = 1e9 / spec.rate_tokens_per_s[0];
    let sigma = spec.itl_sigma_log;
    (0..steps)
        .map(|step| match step {
            0 => ttft_ns,
            _ => gap_ns * (sigma * normal() - sigma * sigma / 2.0).exp(),
        })
        .map(|work_ns| (work_ns * spec.time_scale).round() as u64)
        .collect()
}

/// The hash of a reply that client and server compare: xxh64 with seed 0, bit-cast.
pub fn text_hash(text: &[u8]) -> i64 {
    xxhash_rust::xxh64::xxh64(text, 0) as i64
}
