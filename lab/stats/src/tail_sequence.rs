//! The tail of a candidate against the reference's at any look: what a clip around the middle
//! cannot see. The conditions are those of [`crate::tail`], as sequences of bounded increments.

use serde::Serialize;

use crate::{
    bounded::BoundedMean,
    sequence::UNCOUNTED,
    tail::{CAP, MEAN_MARGIN, SHARE_MARGIN, SLOW},
};

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
        let median =
            (n >= UNCOUNTED).then(|| self.sorted[(n - 1) / 2].midpoint(self.sorted[n / 2]));
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
