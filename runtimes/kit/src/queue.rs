//! How many tasks wait in a runtime's own queue, where a runtime tells.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use lab_protocol::runtimes::names;

/// Asks the runtime.
type Depth = Box<dyn Fn() -> usize + Send + Sync>;

/// Readings of a queue, whoever takes them.
#[derive(Default)]
pub(crate) struct Queue {
    depth: OnceLock<Depth>,
    samples: AtomicU64,
    sum: AtomicU64,
    max: AtomicU64,
}

impl Queue {
    /// From now on `depth` is what is asked.
    pub(crate) fn watch(&self, depth: impl Fn() -> usize + Send + Sync + 'static) {
        self.depth.get_or_init(|| Box::new(depth));
    }

    /// One reading: an atomic load where nobody watches.
    pub(crate) fn sample(&self) {
        if let Some(depth) = self.depth.get() {
            let depth = depth() as u64;
            self.samples.fetch_add(1, Ordering::Relaxed);
            self.sum.fetch_add(depth, Ordering::Relaxed);
            self.max.fetch_max(depth, Ordering::Relaxed);
        }
    }

    /// Nothing where nobody watches.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        if self.depth.get().is_none() {
            return Vec::new();
        }
        let counters = [
            (names::QUEUE_DEPTH_MAX, &self.max),
            (names::QUEUE_DEPTH_SAMPLES, &self.samples),
            (names::QUEUE_DEPTH_SUM, &self.sum),
        ];
        counters.map(|(name, value)| (name, value.load(Ordering::Relaxed))).to_vec()
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_watched_is_read_and_another_one_is_not() {
        let queue = Queue::default();
        queue.sample();
        assert!(queue.counters().is_empty());
        let waiting = AtomicU64::new(5);
        queue.watch(move || waiting.fetch_sub(1, Ordering::Relaxed) as usize);
        (0..3).for_each(|_| queue.sample());
        let expected =
            [("queue_depth_max", 5), ("queue_depth_samples", 3), ("queue_depth_sum", 12)];
        assert_eq!(queue.counters(), expected);
    }
}
