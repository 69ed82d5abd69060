//! The tail of a candidate against the reference's at any look: what a clip around the middle
//! cannot see. A run is slow above [`SLOW`] medians of the reference's earlier runs.

use serde::Serialize;

use crate::{sequence::Hull, shares::Shares, tail::SLOW};

/// The earlier runs whose median means something.
const FEWEST: usize = 10;

/// The reference's runs so far: the median of earlier rounds is what a round is measured against.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    sorted: Vec<f64>,
}

impl Earlier {
    /// The median of the earlier runs, once there are enough of them to mean something.
    pub fn median(&self) -> Option<f64> {
        let n = self.sorted.len();
        let median = (n >= FEWEST).then(|| self.sorted[(n - 1) / 2].midpoint(self.sorted[n / 2]));
        median.filter(|median| *median > 0.0)
    }

    /// Takes a run.
    pub fn push(&mut self, value: f64) {
        let place = self.sorted.partition_point(|other| *other < value);
        self.sorted.insert(place, value);
    }
}

/// The shares of slow runs.
#[derive(Clone, Debug)]
pub struct TailSequence {
    shares: Shares,
    /// So little does not matter.
    margin: f64,
}

/// Where the difference of the shares lies against ±margin, each end at the sequence's level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TailSide {
    /// The candidate has more slow runs, by the margin at least.
    More,
    /// It has fewer, by the margin at least.
    Fewer,
    /// Neither has more by the margin.
    Within,
    /// Not known yet.
    Open,
}

/// What is known of a candidate's tail.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TailState {
    /// The pairs since there is a median.
    pub pairs: u32,
    /// The shares of slow runs, of the reference and of the candidate; `None` without a pair.
    pub shares: Option<[f64; 2]>,
    /// Of their difference, candidate minus reference: the ends of the interval.
    pub slow_share: [f64; 2],
    /// Against ±margin.
    pub side: TailSide,
}

impl TailSequence {
    /// Asked about a difference of the shares by `margin`, each side at `alpha`; `None` unless both
    /// lie between 0 and 1.
    pub fn new(alpha: f64, margin: f64) -> Option<Self> {
        let shares = Shares::new(alpha)?;
        crate::open_unit(margin).then_some(Self { shares, margin })
    }

    /// Takes a pair, against the reference's median of earlier rounds.
    pub fn push(&mut self, reference: f64, candidate: f64, median: f64) {
        self.shares.push([reference, candidate].map(|value| value > SLOW * median));
    }

    /// Whether the candidate has more slow runs by the margin; `None` while that is open.
    pub fn has_more(&self) -> Option<bool> {
        let Hull { low, high } = self.shares.interval();
        if high <= self.margin { Some(false) } else { (low >= self.margin).then_some(true) }
    }

    /// The pairs still needed to know that, if the evidence goes on growing as it did.
    pub fn pairs_to_go(&self) -> Option<f64> {
        self.shares.pairs_to_go(self.margin)
    }

    /// Where the difference lies.
    pub fn side(&self) -> TailSide {
        let Hull { low, high } = self.shares.interval();
        match (low, high) {
            _ if low >= self.margin => TailSide::More,
            _ if high <= -self.margin => TailSide::Fewer,
            _ if -self.margin <= low && high <= self.margin => TailSide::Within,
            _ => TailSide::Open,
        }
    }

    /// All of it.
    pub fn state(&self) -> TailState {
        let Hull { low, high } = self.shares.interval();
        TailState {
            pairs: self.shares.pairs(),
            shares: self.shares.both(),
            slow_share: [low, high],
            side: self.side(),
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

    /// So many pairs against a median of 80, every `every`th candidate slow.
    fn after(pairs: usize, every: usize) -> TailSequence {
        let mut tail = TailSequence::new(0.01, 0.05).unwrap();
        let candidate = |at: usize| if at % every == every - 1 { 101.0 } else { 100.0 };
        (0..pairs).for_each(|at| tail.push(80.0, candidate(at), 80.0));
        tail
    }

    #[test]
    fn a_run_is_slow_above_125_of_the_median() {
        let mut tail = TailSequence::new(0.05, 0.05).unwrap();
        for (reference, candidate) in [(80.0, 100.0), (80.0, 101.0), (300.0, 88.0), (90.0, 161.0)] {
            tail.push(reference, candidate, 80.0);
        }
        let mut shares = Shares::new(0.05).unwrap();
        let pairs = [[false, false], [false, true], [true, false], [false, true]];
        pairs.into_iter().for_each(|pair| shares.push(pair));
        let Hull { low, high } = shares.interval();
        let state = tail.state();
        assert_eq!((state.pairs, state.shares), (4, Some([0.25, 0.5])));
        assert_eq!((state.slow_share, state.side), ([low, high], TailSide::Open));
        assert_eq!(tail.has_more(), None);
    }

    #[test]
    fn a_side_is_known_after_some_hundred_pairs() {
        let said = |pairs, every| {
            let tail = after(pairs, every);
            (tail.side(), tail.has_more())
        };
        assert_eq!(said(60, 1_000), (TailSide::Open, None));
        assert_eq!(said(120, 1_000), (TailSide::Within, Some(false)));
        assert_eq!(said(200, 4), (TailSide::More, Some(true)));
        let mut fewer = TailSequence::new(0.01, 0.05).unwrap();
        (0..200).for_each(|at| fewer.push(if at % 4 == 0 { 101.0 } else { 80.0 }, 80.0, 80.0));
        assert_eq!((fewer.side(), fewer.has_more()), (TailSide::Fewer, Some(false)));
        assert!(after(60, 1_000).pairs_to_go().unwrap() > 40.0);
        assert_eq!(after(200, 4).pairs_to_go(), Some(0.0));
    }

    #[test]
    fn refuses_margins_and_levels_that_nothing_can_be_shown_at() {
        assert!(TailSequence::new(1.0, 0.05).is_none() && TailSequence::new(0.01, 1.0).is_none());
        assert!(TailSequence::new(0.01, 0.0).is_none());
    }
}
