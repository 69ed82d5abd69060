//! Measuring the runtime: the round trip to the pool, and how long a woken task waits.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::runtime::{Adaptive, nanoseconds};

impl Adaptive {
    /// Measures what an empty round trip from a Tokio worker to the pool and back costs, and tells
    /// the scheduler. Returns the median of this many round trips (at least one), in nanoseconds.
    ///
    /// To be awaited before the load begins: what it measures is the round trip on idle pools.
    pub async fn calibrate(&self, rounds: u32) -> u64 {
        let adaptive = self.clone();
        // In a task, because block_on would measure how its own thread is woken.
        let measured = self.handle().spawn(async move {
            let mut samples = Vec::new();
            for _ in 0..rounds.max(1) {
                let (sender, receiver) = oneshot::channel();
                let start = Instant::now();
                adaptive.pool().spawn(move || {
                    let _ = sender.send(());
                });
                // The pool runs every job; a lost one would only be a round trip less.
                let _ = receiver.await;
                samples.push(nanoseconds(start));
            }
            samples.sort_unstable();
            samples[samples.len() / 2]
        });
        let median_ns = measured.await.unwrap_or_else(|_| self.scheduler().round_trip_ns());
        self.scheduler().set_round_trip_ns(median_ns);
        tracing::debug!(median_ns, rounds, "calibrated the round trip");
        median_ns
    }

    /// Starts a task that measures, once in `interval`, how long a woken task waits for its poll,
    /// and feeds the gauge. Ends when the returned probe or the last [`Adaptive`] is dropped.
    ///
    /// The timer only starts a measurement, so that its tick of a millisecond does not matter: what
    /// is measured is the time from the task's own wake-up call to its next poll. The runtime's
    /// time driver has to be enabled.
    pub fn start_probe(&self, interval: Duration) -> Probe {
        let shared = Arc::downgrade(&self.0);
        let task = self.handle().spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                let queue_delay_ns = SelfWake { woken: None }.await;
                let Some(shared) = shared.upgrade() else { return };
                Adaptive(shared).gauge().record_queue_delay(queue_delay_ns);
            }
        });
        Probe(task.abort_handle())
    }
}

/// A running probe; dropping it ends it.
#[derive(Debug)]
#[must_use = "a probe ends when it is dropped"]
pub struct Probe(AbortHandle);

impl Drop for Probe {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Wakes itself once; its output is the time from there to the next poll, in nanoseconds.
#[derive(Debug)]
struct SelfWake {
    woken: Option<Instant>,
}

impl Future for SelfWake {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        match self.woken {
            Some(woken) => Poll::Ready(nanoseconds(woken)),
            None => {
                self.woken = Some(Instant::now());
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}
