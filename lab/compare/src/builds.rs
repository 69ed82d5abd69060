//! What the builds of a revision carry: each round is of one of them, drawn by the seed.

use lab_stats::{
    describe::{NORMAL_SD_PER_MAD, median, median_deviation},
    grouped::{Grouped, grouped},
};
use serde::Serialize;

/// From so many builds on, something is said about all builds that might have been made.
const ENOUGH_BUILDS: usize = 15;
/// A pair counts for at most this many robust standard deviations from the median, as in the
/// confidence sequence: a hiccup must not look like a build.
const CLIP_SDS: f64 = 3.0;

/// A candidate's pairs by their build.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverBuilds {
    /// Builds that a round drew.
    pub drawn: usize,
    /// ln(candidate / reference): the mean of each of these builds.
    pub means: Vec<f64>,
    /// The standard deviation of the builds' true means.
    pub between_sd: f64,
    /// The standard deviation of pairs of one build.
    pub within_sd: f64,
    /// The part of a pair's variance that the build carries, from 0 to 1.
    pub share: f64,
    /// The mean over builds, with the interval over all builds that might have been made, whose
    /// unit is the build; `None` below 15 builds.
    pub over_builds: Option<MeanOverBuilds>,
}

/// A mean whose unit is the build.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeanOverBuilds {
    /// ln(candidate / reference).
    pub mean: f64,
    /// Student's, at 1 - alpha.
    pub interval: [f64; 2],
}

/// What pairs (build, ln(candidate / reference)) tell about so many builds, at level `alpha`;
/// `None` before two builds have pairs and one of them two.
pub fn over_builds(pairs: &[(usize, f64)], builds: usize, alpha: f64) -> Option<OverBuilds> {
    let usable = || pairs.iter().filter(|(_, difference)| difference.is_finite());
    let differences: Vec<f64> = usable().map(|(_, difference)| *difference).collect();
    let centre = median(&differences)?;
    let clip = CLIP_SDS * NORMAL_SD_PER_MAD * median_deviation(&differences)?;
    // Where most pairs are equal there is no deviation to clip at.
    let clip = if clip > 0.0 { clip } else { f64::MAX };
    let mut groups = vec![Vec::new(); builds];
    for (build, difference) in usable() {
        groups.get_mut(*build)?.push(centre + (difference - centre).clamp(-clip, clip));
    }
    let found = grouped(&groups, 1.0 - alpha)?;
    let share = found.between_share();
    let Grouped { means, mean, interval, between_sd, within_sd } = found;
    let drawn = means.len();
    let over_builds = (drawn >= ENOUGH_BUILDS)
        .then_some(MeanOverBuilds { mean, interval: [interval.low, interval.high] });
    Some(OverBuilds { drawn, means, between_sd, within_sd, share, over_builds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hiccup_counts_for_three_robust_standard_deviations() {
        // The median is 2, the median deviation from it 2.
        let pairs = [(0, 0.0), (0, 2.0), (0, 4.0), (2, 2.0), (2, 1e6), (2, f64::NAN)];
        let found = over_builds(&pairs, 3, 0.01).unwrap();
        let clipped = 2.0 + 3.0 * 1.482_602_218_505_602 * 2.0;
        assert_eq!((found.drawn, found.means[0], &found.over_builds), (2, 2.0, &None));
        assert!((found.means[1] - f64::midpoint(2.0, clipped)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn from_fifteen_builds_on_all_builds_are_spoken_of() {
        let pairs = |builds: u16| -> Vec<(usize, f64)> {
            let noise = |at: u16| f64::from(at * 79 % 101) / 101.0;
            (0..2 * builds).map(|at| (usize::from(at % builds), noise(at))).collect()
        };
        let over = |builds| over_builds(&pairs(builds), usize::from(builds), 0.01).unwrap();
        assert_eq!((over(14).over_builds, over(14).drawn), (None, 14));
        let all = over(15).over_builds.unwrap();
        assert!(all.interval[0] < all.mean && all.mean < all.interval[1], "{all:?}");
        assert_eq!(over_builds(&pairs(5), 4, 0.01), None, "a pair of no build");
    }
}
