//! Somebody else's load: as many threads as CPUs, each busy and idle by turns.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::work::work;

/// The longest stretch of work or idleness, in milliseconds.
const LONGEST_MS: u64 = 200;

/// Loads the machine until standard input ends or the time is over.
pub fn load(most: Duration) {
    let over = AtomicBool::new(false);
    let end = Instant::now() + most;
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for number in 0..cpus {
            let over = &over;
            scope.spawn(move || by_turns(number as u64, end, over));
        }
        let mut input = std::io::stdin();
        let mut byte = [0];
        while Instant::now() < end && input.read(&mut byte).is_ok_and(|read| read > 0) {}
        over.store(true, Ordering::Relaxed);
    });
}

fn by_turns(seed: u64, end: Instant, over: &AtomicBool) {
    let mut rng = Pcg64::seed_from_u64(seed);
    while Instant::now() < end && !over.load(Ordering::Relaxed) {
        let until = Instant::now() + Duration::from_millis(rng.random_range(1..=LONGEST_MS));
        while Instant::now() < until {
            std::hint::black_box(work(10));
        }
        thread::sleep(Duration::from_millis(rng.random_range(1..=LONGEST_MS)));
    }
}

/// A running neighbour. Its input ends with this value, and so does it.
pub struct Neighbour(Child);

impl Neighbour {
    /// Starts this program as one.
    pub fn start(program: &std::path::Path) -> Result<Self> {
        let child =
            Command::new(program).args(["compare", "neighbour"]).stdin(Stdio::piped()).spawn();
        child.map(Self).context("the neighbour cannot be started")
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
