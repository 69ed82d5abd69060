//! A neighbour of a run: a thread of the lab's own that takes a share of one core while it lasts.

use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// It works at the start of each period, as far as its share goes.
const PERIOD: Duration = Duration::from_millis(10);

/// Ends when it is dropped. It counts as the lab's own CPU time, so no run is taken for disturbed
/// by it.
#[derive(Debug)]
pub(crate) struct Neighbour {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbour {
    /// One that takes so many percent of a core; none where that is 0.
    pub(crate) fn start(percent: u64) -> Option<Self> {
        let work = PERIOD.mul_f64(percent.min(100) as f64 / 100.0);
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = (percent > 0).then(|| thread::spawn(move || burn(work, &told)))?;
        Some(Self { is_over, thread: Some(thread) })
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It panics nowhere.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn burn(work: Duration, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        while begin.elapsed() < work {
            hint::spin_loop();
        }
        thread::sleep(PERIOD.saturating_sub(begin.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use nix::time::{ClockId, clock_gettime};

    use super::*;

    /// CPU time of a thread that does so much in each of thirty periods, and ends then.
    fn taken(work: Duration) -> Duration {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let burning = scope.spawn(|| {
                burn(work, &is_over);
                clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
            });
            thread::sleep(30 * PERIOD);
            is_over.store(true, Ordering::Relaxed);
            burning.join().unwrap()
        })
    }

    #[test]
    fn a_neighbour_takes_its_share_and_none_takes_nothing() {
        let (half, nothing) = (taken(PERIOD / 2), taken(Duration::ZERO));
        assert!(half > 4 * nothing, "{half:?} and {nothing:?}");
        assert!(Neighbour::start(0).is_none());
        drop(Neighbour::start(50));
    }
}
