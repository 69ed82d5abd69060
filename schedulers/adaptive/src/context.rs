//! How busy the runtime is at the moment of a decision, as measured.

/// Measured state of both pools. A field that nobody measures is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Context {
    /// Worker threads of the Tokio runtime; 0 when unknown, which switches GR0 off.
    pub tokio_workers: u32,
    /// Calls that run or wait on the Tokio side.
    pub in_flight: u32,
    /// Time from waking a task to its poll, in nanoseconds, a recent mean.
    pub queue_delay_ns: u64,
    /// Time that one poll of a task takes, in nanoseconds, a recent mean.
    pub poll_time_ns: u64,
    /// Threads of the Rayon pool; 0 when unknown.
    pub rayon_threads: u32,
    /// Jobs handed to Rayon that have not started.
    pub rayon_queue_depth: u32,
    /// Tasks of anybody in the queue that all workers of the Tokio runtime share.
    pub queued_tasks: u32,
}

/// A mean of the waiting tasks that each level stands for. See [`Context::level`].
pub(crate) const WAITING: [f64; 4] = [0.0, 0.5, 2.0, 6.0];

/// From so many waiting jobs per Rayon thread on, the pool is full.
const SATURATED: u64 = 8;

impl Context {
    /// Whether at least `quarters / 4` tasks wait behind the one that runs, on each worker.
    ///
    /// A task that waits `queue_delay_ns` while polls take `poll_time_ns` has their ratio of tasks
    /// before it. Where no polls are measured, every call in flight beyond one per worker counts
    /// as waiting; with neither, nothing waits. What the runtime's queue holds waits in any case:
    /// it holds the tasks of others, too, and means are too slow for a burst.
    #[inline]
    #[must_use]
    pub fn waiting_at_least(&self, quarters: u64) -> bool {
        let workers = u64::from(self.tokio_workers.max(1));
        let wanted = quarters.saturating_mul(workers);
        if u64::from(self.queued_tasks) * 4 >= wanted.max(1) {
            return true;
        }
        if self.poll_time_ns > 0 {
            let waiting = self.queue_delay_ns.saturating_mul(4);
            return waiting >= self.poll_time_ns.saturating_mul(quarters);
        }
        u64::from(self.in_flight).saturating_sub(workers) * 4 >= wanted
    }

    /// Tasks that wait behind the one that runs, on each worker, in thousandths: the pressure
    /// index. By the same rule as [`Self::waiting_at_least`].
    #[must_use]
    pub fn pressure_milli(&self) -> u64 {
        let workers = u64::from(self.tokio_workers.max(1));
        let in_flight = u64::from(self.in_flight).saturating_sub(workers) * 1000 / workers;
        let delay = self.queue_delay_ns.saturating_mul(1000);
        let waiting = delay.checked_div(self.poll_time_ns).unwrap_or(in_flight);
        waiting.max(u64::from(self.queued_tasks) * 1000 / workers)
    }

    /// Whether the Rayon pool is far behind.
    #[must_use]
    pub fn rayon_saturated(&self) -> bool {
        let threads = u64::from(self.rayon_threads);
        threads > 0 && u64::from(self.rayon_queue_depth) >= threads * SATURATED
    }

    /// One of four levels of pressure, an index of [`WAITING`]: below a quarter, one, four tasks
    /// that wait, or more. Comparisons only, for it is computed in every decision.
    ///
    /// A full pool is one level more. That work waits for the pool does not make room on the
    /// workers: what would run there instead keeps the tasks of others waiting.
    #[inline]
    pub(crate) fn level(&self) -> u8 {
        let full = u8::from(self.rayon_saturated());
        // The usual case, at the price of one comparison.
        if !self.waiting_at_least(1) {
            return full;
        }
        let waits = |quarters| u8::from(self.waiting_at_least(quarters));
        (1 + waits(4) + waits(16) + full).min(WAITING.len() as u8 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_measured_delay() {
        let at =
            |queue_delay_ns| Context { queue_delay_ns, poll_time_ns: 100, ..Context::default() };
        let levels = [0, 24, 25, 99, 100, 399, 400].map(|delay| at(delay).level());
        assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!(at(250).pressure_milli(), 2500);
    }

    #[test]
    fn without_polls_the_calls_in_flight_count() {
        let at = |in_flight| Context { tokio_workers: 4, in_flight, ..Context::default() };
        assert_eq!([0, 4, 5, 8, 20].map(|calls| at(calls).level()), [0, 0, 1, 2, 3]);
        assert_eq!(at(8).pressure_milli(), 1000);
        assert_eq!(Context::default().level(), 0);
    }

    #[test]
    fn a_full_pool_is_pressure_and_never_less_of_it() {
        let at = |in_flight, rayon_queue_depth| {
            let rayon_threads = 2;
            let context = Context { in_flight, rayon_threads, ..Context::default() };
            Context { tokio_workers: 1, rayon_queue_depth, ..context }.level()
        };
        assert_eq!([0, 2, 50].map(|calls| at(calls, 15)), [0, 2, 3]);
        assert_eq!([0, 2, 50].map(|calls| at(calls, 16)), [1, 3, 3]);
    }

    #[test]
    fn tasks_of_others_in_the_queue_wait() {
        let polls = Context { poll_time_ns: 1000, tokio_workers: 2, ..Context::default() };
        let at = |queued_tasks| Context { queued_tasks, ..polls };
        assert_eq!([0, 1, 2, 7, 8].map(|tasks| at(tasks).level()), [0, 1, 2, 2, 3]);
        assert_eq!(at(3).pressure_milli(), 1500);
    }
}
