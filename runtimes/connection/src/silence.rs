//! A server is given up when it is silent for too long.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Watches how long a server is silent, from when this is made.
///
/// One timer a reply: a token moves the deadline, not the timer, which is set anew when it fires
/// too early. So a token costs one reading of the clock.
#[derive(Debug)]
pub struct Silence<'a, Timer> {
    stall_timeout: Duration,
    heard: Instant,
    timer: Pin<&'a mut Timer>,
    sleep_until: fn(Instant) -> Timer,
}

impl<'a, Timer: Future<Output = ()>> Silence<'a, Timer> {
    /// Waits on `timer`, which fires `stall_timeout` from now; `sleep_until` makes the next one.
    pub fn new(
        stall_timeout: Duration,
        timer: Pin<&'a mut Timer>,
        sleep_until: fn(Instant) -> Timer,
    ) -> Self {
        Self { stall_timeout, heard: Instant::now(), timer, sleep_until }
    }

    /// What `step` gives, which counts as a word of the server; `None` when the silence before it
    /// lasts for the stall timeout.
    pub async fn broken_by<S: Future>(&mut self, step: S) -> Option<S::Output> {
        let mut step = pin!(step);
        let done = poll_fn(|context| match step.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => self.poll_stalled(context).map(|()| None),
        })
        .await;
        self.heard = Instant::now();
        done
    }

    fn poll_stalled(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.timer.as_mut().poll(context).is_ready() {
            let deadline = self.heard + self.stall_timeout;
            if deadline <= Instant::now() {
                return Poll::Ready(());
            }
            self.timer.set((self.sleep_until)(deadline));
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::{pending, ready};
    use std::task::Waker;

    const LONG: Duration = Duration::from_secs(3600);

    thread_local! {
        static TIMERS: Cell<u32> = const { Cell::new(0) };
    }

    /// Fires at once, however far away its deadline is.
    async fn too_early(_: Instant) {
        TIMERS.set(TIMERS.get() + 1);
        if TIMERS.get() > 1 {
            pending().await
        }
    }

    fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_timer_that_fires_too_early_is_set_anew_and_gives_nobody_up() {
        let timer = pin!(too_early(Instant::now()));
        let mut silence = Silence::new(LONG, timer, too_early);
        assert_eq!(poll_once(silence.broken_by(pending::<()>())), Poll::Pending);
        assert_eq!(TIMERS.get(), 2);
    }

    #[test]
    fn what_comes_in_time_moves_the_deadline_and_not_the_timer() {
        let timer = pin!(too_early(Instant::now()));
        let mut silence = Silence::new(LONG, timer, too_early);
        let before = silence.heard;
        for word in 0..3 {
            assert_eq!(poll_once(silence.broken_by(ready(word))), Poll::Ready(Some(word)));
        }
        assert!(silence.heard >= before);
        assert_eq!(TIMERS.get(), 0);
    }

    #[test]
    fn a_server_that_says_nothing_is_given_up_and_one_that_spoke_is_not() {
        let fired = |_: Instant| ready(());
        let timer = pin!(ready(()));
        let mut silence = Silence::new(Duration::ZERO, timer, fired);
        assert_eq!(poll_once(silence.broken_by(ready(1))), Poll::Ready(Some(1)));
        assert_eq!(poll_once(silence.broken_by(pending::<u8>())), Poll::Ready(None));
    }
}
