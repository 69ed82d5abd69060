//! Pure functions over slices: what the reports say about samples, and how sure they may be.
//!
//! This crate must never know a clock, an environment, a process, a file or a record: the same
//! numbers in give the same numbers out. Whatever is random takes a seed and draws from
//! [`rand_pcg::Pcg64`], whose stream is the same on every machine.
//!
//! One rule holds everywhere: a function that cannot answer returns `None` (or an error), and
//! never a NaN and never a panic. Samples that are empty, or hold a NaN, an infinity or a
//! magnitude above 1e150 (its square would overflow a sum) cannot be answered for.
//!
//! Differences are always *candidate minus reference*, `a - b`; [`outcome::Direction`] says which
//! sign is the good one.

#![forbid(unsafe_code)]

pub mod after_itself;
pub mod by_machine;
pub mod by_session;
pub mod changes;
pub mod correlation;
pub mod describe;
pub mod equivalence;
pub mod false_finds;
pub mod grouped;
pub mod interval;
pub mod multiple;
pub mod outcome;
pub mod paired;
pub mod power;
pub mod sequence;
pub mod sessions;
pub mod shares;
pub mod split;
pub mod studentised;
pub mod tail;
pub mod tail_sequence;
pub mod unpaired;
pub mod usl;
pub mod variance;
pub mod verdict;

mod rank_sums;
mod resample;

/// Whether sums and squares over these values stay finite.
fn usable(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|value| value.abs() <= 1e150)
}

/// Whether `p` can be a confidence, a level or a power: strictly between 0 and 1.
fn open_unit(p: f64) -> bool {
    p > 0.0 && p < 1.0
}

/// A sorted copy of usable values, which hold no NaN.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// The mean, as a deviation from the first value: so the mean of a constant sample is that constant
/// to the last bit, and its variance 0 and not some rounding that a quotient would blow up.
fn mean(values: &[f64]) -> f64 {
    let first = values[0];
    first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64
}

/// Sample variance (divisor n - 1) in two passes, for differences may be tiny beside the mean.
fn sample_variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}
