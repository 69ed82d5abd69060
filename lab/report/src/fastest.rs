//! Which of several is fastest in one place, and which others it does not beat by more than the
//! interval.

use crate::effect::{Effect, Series, centre};
use crate::reading::Reading;

/// The fastest of several by its median over blocks, and the others paired with it by block.
#[derive(Debug, Clone)]
pub struct Fastest<N> {
    /// The smallest median.
    pub best: N,
    /// Those that the best one does not beat by interval, itself included, in the order given.
    pub tied: Vec<N>,
    /// The others from the smallest median on, each with its time over the best one's (a
    /// logarithm); at least one.
    others: Vec<(N, Effect)>,
}

impl<N: Copy + PartialEq> Fastest<N> {
    /// `None` where the best one shares no block with any other.
    pub fn of(timed: &[(N, Series)]) -> Option<Self> {
        let ranked = timed.iter().filter_map(|(name, times)| Some((*name, times, centre(times)?)));
        let mut ranked: Vec<(N, &Series, f64)> = ranked.collect();
        ranked.sort_by(|a, b| a.2.total_cmp(&b.2));
        let ((best, own, _), rest) = ranked.split_first()?;
        let behind =
            |(name, times, _): &(N, &Series, f64)| Some((*name, Effect::log_ratio(times, own)?));
        let others: Vec<(N, Effect)> = rest.iter().filter_map(behind).collect();
        let is_close = |name: &N| {
            let mut beaten = others.iter();
            name == best || beaten.any(|(one, effect)| one == name && !effect.surely_above(0.0))
        };
        let tied = timed.iter().map(|(name, _)| *name).filter(is_close).collect();
        (!others.is_empty()).then_some(Self { best: *best, tied, others })
    }

    /// The second smallest median, and its time over the best one's (a logarithm).
    pub fn runner_up(&self) -> &(N, Effect) {
        &self.others[0]
    }

    /// The runner-up's time over the best one's.
    pub fn advantage(&self) -> Reading {
        Reading::of_ratio(&self.runner_up().1)
    }

    /// The largest median, and its time over the best one's (a logarithm).
    pub fn slowest(&self) -> &(N, Effect) {
        &self.others[self.others.len() - 1]
    }

    /// Blocks that the best one shares with its runner-up.
    pub fn n(&self) -> usize {
        self.runner_up().1.n()
    }

    /// Whether there are blocks enough for any interval.
    pub fn is_judged(&self) -> bool {
        self.runner_up().1.interval.is_some()
    }

    /// Whether the best one beats every other one by more than the interval.
    pub fn is_alone(&self) -> bool {
        self.is_judged() && self.tied.len() == 1
    }
}
