//! The tail of a candidate against the reference's at any look: what a clip around the middle
//! cannot see. The conditions are those of [`crate::tail`], as sequences of bounded increments.

use serde::Serialize;

use crate::{
    bounded::BoundedMean,
    tail::{CAP, MEAN_MARGIN, SHARE_MARGIN, SLOW},
};

/// Runs of the reference before their median means something.
const EARLIER: usize = 10;
/// On a scale without ratios a pair counts for at most so many margins.
const CAP_MARGINS: f64 = 20.0;

/// The reference's runs so far: the median of earlier rounds is what a round is measured against.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    sorted: Vec<f64>,
}

impl Earlier {
    /// The median of the earlier runs, once there are enough of them to mean something.
    pub fn median(&self) -> Option<f64> {
        let n = self.sorted.len();
        let median = (n >= EARLIER).then(|| self.sorted[(n - 1) / 2].midpoint(self.sorted[n / 2]));
        median.filter(|median| *median > 0.0)
    }

    /// Takes a run.
    pub fn push(&mut self, value: f64) {
        let place = self.sorted.partition_point(|other| *other < value);
        self.sorted.insert(place, value);
    }
}

/// The two conditions of *equivalent* that are about the tail.
#[derive(Clone, Debug)]
pub struct TailSequence {
    /// `None` on a scale without ratios.
    share: Option<BoundedMean>,
    mean: BoundedMean,
    /// What a unit of the mean is.
    unit: f64,
}

/// What is known of a candidate's tail, as differences candidate minus reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TailState {
    /// Of the shares of runs above 1.25 × the reference's median: the ends of the interval.
    /// `None` on a scale without ratios.
    pub slow_share: Option<[f64; 2]>,
    /// Of the means, in medians of the reference, runs capped at 2 of them; of differences in their
    /// unit, pairs capped at 20 margins.
    pub capped_mean: [f64; 2],
    /// Whether both are shown to lie within their margins.
    pub equivalent: bool,
}

impl TailSequence {
    /// Of ratios, with the margin as a fraction; `None` unless 0 < `alpha` < 1 and the margin is
    /// above 0 and below [`CAP`].
    pub fn of_ratios(alpha: f64, margin: f64) -> Option<Self> {
        let share = Some(BoundedMean::new(alpha, 1.0, SHARE_MARGIN)?);
        let mean = BoundedMean::new(alpha, CAP, margin.max(MEAN_MARGIN))?;
        Some(Self { share, mean, unit: 1.0 })
    }

    /// Of differences, with the margin in their unit; `None` unless 0 < `alpha` < 1 and the margin
    /// is above 0.
    pub fn of_differences(alpha: f64, margin: f64) -> Option<Self> {
        let mean = BoundedMean::new(alpha, CAP_MARGINS, 1.0)?;
        (margin > 0.0).then_some(Self { share: None, mean, unit: margin })
    }

    /// Takes a pair of values above 0, against the reference's median of earlier rounds.
    pub fn push(&mut self, reference: f64, candidate: f64, median: f64) {
        let slow = |value: f64| f64::from(value > SLOW * median);
        if let Some(share) = &mut self.share {
            share.push(slow(candidate) - slow(reference));
        }
        let capped = |value: f64| (value / median).min(CAP);
        self.mean.push(capped(candidate) - capped(reference));
    }

    /// Takes a pair's difference.
    pub fn push_difference(&mut self, difference: f64) {
        self.mean.push(difference / self.unit);
    }

    /// Whether both conditions are shown to hold.
    pub fn equivalent(&self) -> bool {
        self.share.as_ref().is_none_or(BoundedMean::is_inside) && self.mean.is_inside()
    }

    /// The rounds still needed to show it, if the evidence goes on growing as it did.
    pub fn rounds_to_go(&self, alpha: f64) -> Option<f64> {
        let mean = self.mean.log_evidence();
        let evidence = self.share.as_ref().map_or(mean, |share| share.log_evidence().min(mean));
        let needed = -alpha.ln() / evidence - 1.0;
        (evidence > 0.0).then(|| self.mean.len() as f64 * needed.max(0.0))
    }

    /// Both intervals.
    pub fn state(&self) -> TailState {
        let ends = |mean: &BoundedMean| {
            let hull = mean.interval();
            [self.unit * hull.low, self.unit * hull.high]
        };
        TailState {
            slow_share: self.share.as_ref().map(ends),
            capped_mean: ends(&self.mean),
            equivalent: self.equivalent(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_of_enough_earlier_runs_in_whatever_order() {
        let mut earlier = Earlier::default();
        (1..=9).rev().for_each(|value| earlier.push(f64::from(value)));
        assert_eq!(earlier.median(), None);
        earlier.push(10.0);
        assert_eq!(earlier.median(), Some(5.5));
        earlier.push(0.5);
        assert_eq!(earlier.median(), Some(5.0));
        let mut of_zeros = Earlier::default();
        (0..20).for_each(|_| of_zeros.push(0.0));
        assert_eq!(of_zeros.median(), None);
    }

    fn bounded(bound: f64, margin: f64, increments: &[f64]) -> BoundedMean {
        let mut mean = BoundedMean::new(0.05, bound, margin).unwrap();
        increments.iter().for_each(|increment| mean.push(*increment));
        mean
    }

    fn ends(mean: &BoundedMean, unit: f64) -> [f64; 2] {
        let hull = mean.interval();
        [unit * hull.low, unit * hull.high]
    }

    #[test]
    fn a_run_is_slow_above_125_of_the_median_and_counts_for_at_most_two() {
        let mut tail = TailSequence::of_ratios(0.05, 0.01).unwrap();
        for (reference, candidate) in [(80.0, 100.0), (80.0, 101.0), (300.0, 88.0), (90.0, 161.0)] {
            tail.push(reference, candidate, 80.0);
        }
        let state = tail.state();
        let shares = bounded(1.0, SHARE_MARGIN, &[0.0, 1.0, -1.0, 1.0]);
        assert_eq!(state.slow_share, Some(ends(&shares, 1.0)));
        let means = bounded(CAP, MEAN_MARGIN, &[0.25, 0.2625, 1.1 - 2.0, 2.0 - 1.125]);
        assert_eq!(state.capped_mean, ends(&means, 1.0));
        assert!(!state.equivalent);
    }

    #[test]
    fn both_conditions_are_needed_and_the_wait_is_for_the_later_one() {
        let alpha = 0.05;
        let after = |pairs: usize, candidate: f64| {
            let mut tail = TailSequence::of_ratios(alpha, 0.01).unwrap();
            (0..pairs).for_each(|_| tail.push(1.0, candidate, 1.0));
            tail
        };
        assert_eq!(after(0, 1.0).rounds_to_go(alpha), None);
        let zeros = vec![0.0; 50];
        let evidence = [bounded(1.0, SHARE_MARGIN, &zeros), bounded(CAP, MEAN_MARGIN, &zeros)];
        let [share, mean] = evidence.map(|mean| mean.log_evidence());
        assert!(mean < share && 0.0 < mean, "{share} {mean}");
        let expected = 50.0 * (-alpha.ln() / mean - 1.0);
        let found = after(50, 1.0).rounds_to_go(alpha).unwrap();
        assert!((found - expected).abs() < 1e-9 && expected > 10.0, "{found} {expected}");
        let many = after(1_000, 1.0);
        assert_eq!((many.equivalent(), many.rounds_to_go(alpha)), (true, Some(0.0)));
        // The shares are equal, the means are not: by more than 5 %.
        let slower = after(1_000, 1.2);
        assert_eq!((slower.equivalent(), slower.rounds_to_go(alpha)), (false, None));
    }

    #[test]
    fn differences_count_in_margins_of_which_a_pair_has_at_most_twenty() {
        let mut tail = TailSequence::of_differences(0.05, 4.0).unwrap();
        [2.0, -8.0, 1_000.0].into_iter().for_each(|difference| tail.push_difference(difference));
        let state = tail.state();
        let means = bounded(CAP_MARGINS, 1.0, &[0.5, -2.0, 20.0]);
        assert_eq!((state.slow_share, state.capped_mean), (None, ends(&means, 4.0)));
    }

    #[test]
    fn refuses_margins_and_levels_that_nothing_can_be_shown_at() {
        let refused = |alpha, margin| {
            let of_ratios = TailSequence::of_ratios(alpha, margin).is_none();
            (of_ratios, TailSequence::of_differences(alpha, margin).is_none())
        };
        assert_eq!(refused(1.0, 0.01), (true, true));
        assert_eq!(refused(0.05, 2.0), (true, false));
        assert_eq!(refused(0.05, 0.0), (false, true));
    }
}
