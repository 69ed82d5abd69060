//! What could be detected today: adjacent pairs of one and the same computation.

use lab_driver::probe::Snapshot;
use lab_record::Noise;
use lab_stats::{describe::median, power::minimum_detectable_effect};
use serde_json::{Value, json};

/// Two seconds in all.
const PAIRS: usize = 100;
const WORK_NS: u64 = 10_000_000;
/// Numbers of pairs that the forecast is made for.
const FORECAST: [usize; 3] = [20, 100, 400];
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.8;
/// A difference beyond this many robust standard deviations counts as one of this many.
const CLIP: f64 = 3.0;
/// From the median absolute deviation to the standard deviation, on a normal distribution.
const MAD_TO_SD: f64 = 1.4826;

/// How far equal computations differed.
pub(super) struct Pilot {
    /// Of the logarithms of ratios.
    robust_sd: f64,
    /// Pairs, and the relative difference that so many find.
    detectable: Vec<(usize, Option<f64>)>,
    /// What else the machine did meanwhile.
    pub(super) noise: Noise,
}

/// Takes about two seconds.
pub(super) fn pilot() -> Pilot {
    let before = Snapshot::take(Some(&[]));
    let pairs = lab_driver::probe::equal_pairs(PAIRS, WORK_NS);
    let noise = lab_driver::probe::between(&before, &Snapshot::take(Some(&[])));
    of(&pairs, noise)
}

fn of(pairs: &[(u64, u64)], noise: Noise) -> Pilot {
    let ratios: Vec<f64> = pairs.iter().map(|&(a, b)| (b as f64 / a as f64).ln()).collect();
    let centre = median(&ratios).unwrap_or(0.0);
    let distances: Vec<f64> = ratios.iter().map(|ratio| (ratio - centre).abs()).collect();
    let robust_sd = MAD_TO_SD * median(&distances).unwrap_or(0.0);
    let clip = |ratio: &f64| (ratio - centre).clamp(-CLIP * robust_sd, CLIP * robust_sd);
    let residuals: Vec<f64> = ratios.iter().map(clip).collect();
    let effect = |n| minimum_detectable_effect(&residuals, n, ALPHA, POWER, 1).map(f64::exp_m1);
    Pilot { robust_sd, detectable: FORECAST.map(|n| (n, effect(n))).to_vec(), noise }
}

impl Pilot {
    pub(super) fn json(&self) -> Value {
        let detectable = self
            .detectable
            .iter()
            .map(|(pairs, share)| json!({ "pairs": pairs, "relative_difference": share }));
        json!({
            "pairs": PAIRS,
            "computation_ns": WORK_NS,
            "robust_sd": self.robust_sd,
            "alpha": ALPHA,
            "power": POWER,
            "detectable": detectable.collect::<Vec<_>>(),
            "noise": self.noise,
        })
    }

    pub(super) fn text(&self) -> String {
        let found: Vec<String> = self
            .detectable
            .iter()
            .filter_map(|(pairs, share)| {
                Some(format!("{:.2} % in {pairs} pairs", 100.0 * (*share)?))
            })
            .collect();
        format!(
            "Detectable today, at best: {}.\n  ({PAIRS} adjacent pairs of one computation of 10 ms \
             on one thread; SD of a pair {:.2} %; {:.0} % power at {ALPHA}.\n  Programs with \
             several threads, files or a server vary more.)",
            found.join(", "),
            100.0 * self.robust_sd,
            100.0 * POWER,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs whose ratios spread evenly from -`percent` to +`percent`, and one far outlier.
    fn spread(percent: f64) -> Pilot {
        let ratio = |i: i32| 1.0 + percent / 100.0 * f64::from(i - 50) / 50.0;
        let even = (0..=100).map(|i| (1_000_000, (1e6 * ratio(i)) as u64));
        let pairs: Vec<_> = even.chain([(1_000_000, 90_000_000)]).collect();
        of(&pairs, Noise::default())
    }

    fn detectable(pilot: &Pilot) -> Vec<f64> {
        pilot.detectable.iter().map(|(_, share)| share.unwrap()).collect()
    }

    #[test]
    fn more_pairs_find_less_and_noise_hides_in_proportion() {
        let (quiet, noisy) = (spread(1.0), spread(4.0));
        let found = detectable(&quiet);
        assert!(found[0] > found[1] && found[1] > found[2] && found[2] > 0.0, "{found:?}");
        for (quiet, noisy) in found.iter().zip(detectable(&noisy)) {
            assert!((noisy / quiet - 4.0).abs() < 0.2, "{quiet} {noisy}");
        }
        // Half of the ratios lie within 0.5 %; the outlier moves nothing.
        assert!((quiet.robust_sd - 0.0074).abs() < 0.0003, "{}", quiet.robust_sd);
    }

    #[test]
    fn it_says_what_was_run_and_what_could_be_found() {
        let text = spread(1.0).text();
        assert!(text.starts_with("Detectable today, at best: 0."), "{text}");
        assert!(text.contains("% in 400 pairs") && text.contains("SD of a pair 0.7"), "{text}");
    }
}
