//! How much of the variance between runs is the trace's that was replayed, the runtime's that read
//! it, and the server's that kept its times.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::variance::{attribute, dummy_columns};
use crate::{mean, open_unit, sample_variance, usable};

/// Fewer blocks say nothing of how blocks vary.
const BLOCKS_LEAST: usize = 3;

/// One run of a crossed design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replayed<'a> {
    /// The metric, in any unit.
    pub value: f64,
    /// What was replayed.
    pub trace: &'a str,
    /// Who read it.
    pub runtime: &'a str,
    /// How late the server was by its own account.
    pub late: f64,
    /// The block of the run.
    pub block: u32,
}

/// Parts of the variance, in this order: trace, server, runtime, trace and runtime together (what a
/// runtime does with one trace and not with others), residue.
pub const PARTS: [&str; 5] = ["trace", "server", "runtime", "trace_and_runtime", "residue"];

/// The share of one part, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its estimate; all five sum to 1.
    pub share: f64,
    /// The ends of its interval.
    pub low: f64,
    /// The ends of its interval.
    pub high: f64,
}

/// Splits the variance of runs in which every runtime read every trace.
///
/// Sums of squares are sequential, as those of [`crate::variance::shares`]; the server's lateness
/// enters as a number (analysis of covariance: Searle (1971), Linear Models, section 8.2) after the
/// trace and before the runtime, so what both could explain is not the runtime's. From each sum
/// goes what chance alone gives it, its degrees of freedom times the residual mean square: by
/// expected mean squares with fixed effects, Searle, Casella and McCulloch (1992), Variance
/// Components, chapter 4; as omega squared, Hays (1963), Statistics for Psychologists. Intervals
/// are of the jackknife over blocks, Arvesen and Schmitz (1970), Biometrics 26(4), pp. 677-686, for
/// these traces and these runtimes.
///
/// `None` of unusable or equal values, of one trace or runtime, of fewer than three blocks, and
/// where a block leaves no residue.
pub fn split(runs: &[Replayed], confidence: f64) -> Option<[Part; 5]> {
    let whole = parts(runs)?;
    let mut blocks: Vec<u32> = runs.iter().map(|run| run.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    if blocks.len() < BLOCKS_LEAST || !open_unit(confidence) {
        return None;
    }
    let n = blocks.len() as f64;
    let without = |block: &u32| {
        let kept: Vec<Replayed> = runs.iter().filter(|run| run.block != *block).copied().collect();
        parts(&kept)
    };
    let without: Vec<[f64; 5]> = blocks.iter().map(without).collect::<Option<_>>()?;
    // One that chance made less than 0 is 0, and the others are shares of what is then there.
    let total: f64 = whole.iter().map(|share| share.max(0.0)).sum();
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    Some(std::array::from_fn(|part| {
        let pseudo: Vec<f64> =
            without.iter().map(|less| n * whole[part] - (n - 1.0) * less[part]).collect();
        let (middle, error) = (mean(&pseudo), (sample_variance(&pseudo) / n).sqrt());
        let within = |share: f64| share.clamp(0.0, 1.0);
        let [low, high] = [middle - t * error, middle + t * error].map(within);
        let share = whole[part].max(0.0) / total;
        Part { share, low: low.min(share), high: high.max(share) }
    }))
}

/// The share of each part, which chance may make less than 0.
fn parts(runs: &[Replayed]) -> Option<[f64; 5]> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let late: Vec<f64> = runs.iter().map(|run| run.late).collect();
    if !usable(&values) || !usable(&late) {
        return None;
    }
    let factors = [
        (PARTS[0], dummy_columns(runs.iter().map(|run| run.trace))),
        (PARTS[1], vec![late]),
        (PARTS[2], dummy_columns(runs.iter().map(|run| run.runtime))),
        (PARTS[3], dummy_columns(runs.iter().map(|run| (run.trace, run.runtime)))),
    ];
    if factors[0].1.len() < 2 || factors[2].1.len() < 2 {
        return None;
    }
    let found = attribute(values, &factors).ok()?;
    if found.residue_df == 0 {
        return None;
    }
    let chance = found.residue / found.residue_df as f64;
    let named = |part: usize| {
        let of = &found.factors[part];
        (of.share - of.df as f64 * chance) / (1.0 + chance)
    };
    let [trace, server, runtime, both] = std::array::from_fn(named);
    Some([trace, server, runtime, both, 1.0 - trace - server - runtime - both])
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::resample::generator;

    const TRACES: [&str; 4] = ["a", "b", "c", "d"];
    const RUNTIMES: [&str; 4] = ["1", "2", "3", "4"];

    /// Effects of these variances, and uniform noise of the last one's, in so many blocks.
    fn planted(
        [trace, server, runtime, both, noise]: [f64; 5],
        blocks: u32,
    ) -> Vec<Replayed<'static>> {
        let mut random = generator(17);
        let mut draw =
            move |variance: f64| (random.random::<f64>() - 0.5) * (12.0 * variance).sqrt();
        // Halves of opposite signs have their variance exactly.
        let signed =
            |odd: bool, variance: f64| if odd { variance.sqrt() } else { -variance.sqrt() };
        let mut runs = Vec::new();
        for block in 1..=blocks {
            for (t, trace_name) in TRACES.iter().enumerate() {
                for (r, runtime_name) in RUNTIMES.iter().enumerate() {
                    let late = draw(1.0);
                    let value = signed(t % 2 == 1, trace)
                        + server.sqrt() * late
                        + signed(r % 2 == 1, runtime)
                        + signed((t % 2 == 1) != (r % 2 == 1), both)
                        + draw(noise);
                    runs.push(Replayed {
                        value: 7.0 + value,
                        trace: trace_name,
                        runtime: runtime_name,
                        late: 3.0 + late,
                        block,
                    });
                }
            }
        }
        runs
    }

    #[test]
    fn planted_parts_are_found_within_their_intervals() {
        for planted_parts in [
            [0.97, 0.005, 0.01, 0.0, 0.015],
            [0.1, 0.3, 0.2, 0.15, 0.25],
            [0.0, 0.0, 0.5, 0.0, 0.5],
        ] {
            let found = split(&planted(planted_parts, 12), 0.95).unwrap();
            for ((part, truth), name) in found.iter().zip(planted_parts).zip(PARTS) {
                assert!((part.share - truth).abs() < 0.06, "{name}: {part:?}, {truth}");
                let slack = 0.02;
                let is_within = part.low - slack <= truth && truth <= part.high + slack;
                assert!(is_within, "{name}: {part:?}, {truth}");
            }
        }
    }

    #[test]
    fn noise_alone_is_residue() {
        let found = split(&planted([0.0, 0.0, 0.0, 0.0, 1.0], 8), 0.95).unwrap();
        assert!(found[4].share > 0.9, "{found:?}");
        assert!(found[..4].iter().all(|part| part.share < 0.06 && part.low < 0.01), "{found:?}");
    }

    #[test]
    fn what_cannot_be_split_is_not() {
        let good = planted([0.1, 0.3, 0.2, 0.15, 0.25], 3);
        assert!(split(&good, 0.95).is_some() && split(&good, 1.0).is_none());
        let some = |keep: fn(&Replayed) -> bool| -> Vec<Replayed> {
            good.iter().filter(|run| keep(run)).copied().collect()
        };
        assert_eq!(split(&some(|run| run.block < 3), 0.95), None);
        assert_eq!(split(&some(|run| run.trace == "a"), 0.95), None);
        assert_eq!(split(&some(|run| run.runtime == "1"), 0.95), None);
        assert_eq!(split(&[], 0.95), None);
        let equal: Vec<Replayed> = good.iter().map(|run| Replayed { value: 1.0, ..*run }).collect();
        assert_eq!(split(&equal, 0.95), None);
    }
}
