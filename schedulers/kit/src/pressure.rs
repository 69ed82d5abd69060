//! What a policy says of the pressure on the runtime, over a load.

use std::sync::atomic::{AtomicU64, Ordering};

use lab_protocol::schedulers::names;

/// The policy's own index at each decision, in thousandths. Two decisions at once may lose one of
/// both as the last, and neither from the mean.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    told: AtomicU64,
    last: AtomicU64,
    most: AtomicU64,
    sum: AtomicU64,
}

impl Pressure {
    pub(crate) fn add(&self, milli: u64) {
        self.told.fetch_add(1, Ordering::Relaxed);
        self.last.store(milli, Ordering::Relaxed);
        self.most.fetch_max(milli, Ordering::Relaxed);
        self.sum.fetch_add(milli, Ordering::Relaxed);
    }

    /// Under the names of the protocol; none where the policy has no index.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        let read = |place: &AtomicU64| place.load(Ordering::Relaxed);
        let Some(mean) = read(&self.sum).checked_div(read(&self.told)) else { return Vec::new() };
        vec![
            (names::PRESSURE_LAST_MILLI, read(&self.last)),
            (names::PRESSURE_MEAN_MILLI, mean),
            (names::PRESSURE_MOST_MILLI, read(&self.most)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_the_mean_and_the_most_are_told_and_nothing_of_none() {
        let pressure = Pressure::default();
        assert!(pressure.counters().is_empty());
        [3_000, 9_000, 0].into_iter().for_each(|milli| pressure.add(milli));
        let values: Vec<u64> = pressure.counters().into_iter().map(|(_, milli)| milli).collect();
        assert_eq!(values, [0, 4_000, 9_000]);
    }
}
