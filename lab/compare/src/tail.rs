//! The tail of a candidate against the reference's: what a clip around the middle cannot see.

use lab_stats::{
    bounded::BoundedMean,
    sequence::UNCOUNTED,
    tail::{CAP, MEAN_MARGIN, SHARE_MARGIN, SLOW},
};
use serde::Serialize;

/// The reference's runs so far: the median of earlier rounds is what a round is measured against.
#[derive(Clone, Debug, Default)]
pub(crate) struct Earlier {
    sorted: Vec<f64>,
}

impl Earlier {
    /// The median of the earlier runs, once there are enough of them to mean something.
    pub(crate) fn median(&self) -> Option<f64> {
        let n = self.sorted.len();
        let median =
            (n >= UNCOUNTED).then(|| self.sorted[(n - 1) / 2].midpoint(self.sorted[n / 2]));
        median.filter(|median| *median > 0.0)
    }

    pub(crate) fn push(&mut self, value: f64) {
        let place = self.sorted.partition_point(|other| *other < value);
        self.sorted.insert(place, value);
    }
}

/// The two conditions of *equivalent* that are about the tail.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    share: BoundedMean,
    mean: BoundedMean,
}

/// What is known of a candidate's tail, as differences candidate minus reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TailState {
    /// Of the shares of runs above 1.25 × the reference's median: the ends of the interval.
    pub slow_share: [f64; 2],
    /// Of the means, in medians of the reference, runs capped at 2 of them.
    pub capped_mean: [f64; 2],
    /// Whether both are shown to lie within their margins.
    pub equivalent: bool,
}

impl Tail {
    /// `None` for settings that [`crate::Settings::check`] refuses.
    pub(crate) fn new(alpha: f64, margin: f64) -> Option<Self> {
        let share = BoundedMean::new(alpha, 1.0, SHARE_MARGIN)?;
        Some(Self { share, mean: BoundedMean::new(alpha, CAP, margin.max(MEAN_MARGIN))? })
    }

    /// Takes a pair, against the reference's median of earlier rounds.
    pub(crate) fn push(&mut self, reference: f64, candidate: f64, median: f64) {
        let slow = |value: f64| f64::from(value > SLOW * median);
        self.share.push(slow(candidate) - slow(reference));
        let capped = |value: f64| (value / median).min(CAP);
        self.mean.push(capped(candidate) - capped(reference));
    }

    pub(crate) fn equivalent(&self) -> bool {
        self.share.is_inside() && self.mean.is_inside()
    }

    /// The rounds still needed to show it, if the evidence goes on growing as it did.
    pub(crate) fn rounds_to_go(&self, alpha: f64) -> Option<f64> {
        let evidence = self.share.log_evidence().min(self.mean.log_evidence());
        let needed = -alpha.ln() / evidence - 1.0;
        (evidence > 0.0).then(|| self.share.len() as f64 * needed.max(0.0))
    }

    pub(crate) fn state(&self) -> TailState {
        let ends = |mean: &BoundedMean| {
            let hull = mean.interval();
            [hull.low, hull.high]
        };
        TailState {
            slow_share: ends(&self.share),
            capped_mean: ends(&self.mean),
            equivalent: self.equivalent(),
        }
    }
}
