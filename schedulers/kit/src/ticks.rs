//! A timer of the kernel, read by a task on the asynchronous runtime.
//!
//! Not the runtime's own timer: that is a wheel of one millisecond, and would hide everything
//! below.

use std::io;
use std::os::fd::OwnedFd;

use nix::sys::timer::{Expiration, TimerSetTimeFlags};
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};
use nix::unistd::read;
use tokio::io::unix::AsyncFd;

use crate::clock::{now_ns, time_spec};

/// Ticks at absolute instants of `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub(crate) struct Ticks {
    timer: AsyncFd<OwnedFd>,
    first_ns: u64,
    every_ns: u64,
}

impl Ticks {
    /// Registers the timer with the runtime that this is called on.
    #[expect(
        deprecated,
        reason = "its successor is unsafe for types that may change their file \
                                   descriptor, and an OwnedFd does not"
    )]
    pub(crate) fn new(first_ns: u64, every_ns: u64) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let ticks = Expiration::IntervalDelayed(time_spec(first_ns), time_spec(every_ns));
        timer.set(ticks, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        Ok(Self { timer: AsyncFd::new(timer.into())?, first_ns, every_ns })
    }

    /// Of the first `count` ticks: the time from the instant at which each was to come until this
    /// task had read it. Ticks that are read together count from their own instants, so a long
    /// wait is not one bad tick but as many as it covered.
    pub(crate) async fn latencies(self, count: usize) -> io::Result<Vec<u64>> {
        let mut latencies = Vec::with_capacity(count);
        while latencies.len() < count {
            let mut ready = self.timer.readable().await?;
            let Ok(expired) = ready.try_io(|timer| expirations(timer.get_ref())) else { continue };
            let now = now_ns();
            for _ in 0..expired?.min((count - latencies.len()) as u64) {
                let intended = self.first_ns + latencies.len() as u64 * self.every_ns;
                latencies.push(now.saturating_sub(intended));
            }
        }
        Ok(latencies)
    }
}

fn expirations(timer: &OwnedFd) -> io::Result<u64> {
    let mut count = [0; 8];
    read(timer, &mut count)?;
    Ok(u64::from_ne_bytes(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::sleep_until;

    #[test]
    fn ticks_that_were_missed_count_from_their_own_instants() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let first_ns = now_ns();
        let latencies = runtime.block_on(async {
            let ticks = Ticks::new(first_ns, 1_000_000).unwrap();
            // The runtime's only thread is kept from the first five.
            sleep_until(first_ns + 4_500_000);
            ticks.latencies(5).await.unwrap()
        });
        let late: Vec<u64> = latencies.windows(2).map(|pair| pair[0] - pair[1]).collect();
        assert_eq!(late, [1_000_000; 4]);
        assert!(latencies[4] >= 500_000);
    }
}
