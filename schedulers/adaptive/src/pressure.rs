//! How busy the runtime is: what the calls and the probe measure, gathered.

use std::sync::atomic::Ordering::Relaxed;

use crate::context::Context;
use crate::sync::{AtomicU32, AtomicU64};

/// Gathers measurements into a [`Context`]. Every method is wait-free; a recent mean that two
/// threads update at once may miss one of the two.
#[derive(Debug, Default)]
pub struct PressureGauge {
    tokio_workers: u32,
    rayon_threads: u32,
    in_flight: AtomicU32,
    rayon_queued: AtomicU32,
    /// Recent means plus one; 0 before the first measurement.
    queue_delay_ns: AtomicU64,
    poll_time_ns: AtomicU64,
}

impl PressureGauge {
    /// A gauge of pools of this size; 0 where unknown.
    #[must_use]
    pub fn new(tokio_workers: u32, rayon_threads: u32) -> Self {
        Self { tokio_workers, rayon_threads, ..Self::default() }
    }

    /// Takes in how long a woken task waited for its poll.
    pub fn record_queue_delay(&self, queue_delay_ns: u64) {
        record(&self.queue_delay_ns, queue_delay_ns);
    }

    /// Takes in how long a poll took.
    pub fn record_poll(&self, poll_time_ns: u64) {
        record(&self.poll_time_ns, poll_time_ns);
    }

    /// A call entered the Tokio side; [`Self::leave`] has to follow.
    pub fn enter(&self) {
        self.in_flight.fetch_add(1, Relaxed);
    }

    /// A call left the Tokio side.
    pub fn leave(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// A job was handed to Rayon; [`Self::started`] has to follow.
    pub fn queued(&self) {
        self.rayon_queued.fetch_add(1, Relaxed);
    }

    /// A job that was handed to Rayon began, or never will.
    pub fn started(&self) {
        self.rayon_queued.fetch_sub(1, Relaxed);
    }

    /// The measurements as a decision reads them; [`crate::Adaptive::context`] adds what the
    /// runtime itself tells. The poll time is left out until a queue delay was measured: alone it
    /// would say that nothing waits.
    #[must_use]
    pub fn context(&self) -> Context {
        let delay = self.queue_delay_ns.load(Relaxed);
        let poll = if delay > 0 { self.poll_time_ns.load(Relaxed).saturating_sub(1) } else { 0 };
        Context {
            tokio_workers: self.tokio_workers,
            in_flight: self.in_flight.load(Relaxed),
            queue_delay_ns: delay.saturating_sub(1),
            poll_time_ns: poll,
            rayon_threads: self.rayon_threads,
            rayon_queue_depth: self.rayon_queued.load(Relaxed),
            queued_tasks: 0,
        }
    }
}

/// Moves a recent mean by an eighth of the distance, and at least by one where there is any: a
/// mean that rounding stops would never come down to zero.
fn record(place: &AtomicU64, value: u64) {
    let new = value.saturating_add(1);
    let old = place.load(Relaxed);
    let moved = match old {
        0 => new,
        old if new > old => old + (new - old).div_ceil(8),
        old => old - (old - new).div_ceil(8),
    };
    place.store(moved, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_follow_what_is_measured() {
        let gauge = PressureGauge::new(2, 3);
        gauge.record_poll(1000);
        assert_eq!(gauge.context().poll_time_ns, 0, "alone it says nothing");
        gauge.record_queue_delay(8000);
        assert_eq!((gauge.context().poll_time_ns, gauge.context().queue_delay_ns), (1000, 8000));
        assert_eq!(gauge.context().pressure_milli(), 8000);
        (0..200).for_each(|_| gauge.record_queue_delay(0));
        assert_eq!(gauge.context().queue_delay_ns, 0);
    }
}
