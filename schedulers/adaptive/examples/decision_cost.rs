//! What a decision costs: batches of 10,000 calls between one pair of clock reads, the median of
//! 200 batches, by one thread and by all at once on one key.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use adaptive::{Arm, Context, Cost, Key, Scheduler};

const CALLS: u32 = 10_000;
const BATCHES: usize = 200;

fn main() {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, threads] {
        let choose = timed(threads, |scheduler, key, context| {
            let _ = black_box(scheduler.choose(key, context));
        });
        let cycle = timed(threads, |scheduler, key, context| {
            let decision = scheduler.choose(key, context);
            let total_ns = if decision.arm() == Arm::Inline { 15_000 } else { 30_000 };
            scheduler.finish(decision, Cost::total(total_ns));
        });
        println!("{threads} threads: choose {choose:.1} ns, choose and finish {cycle:.1} ns");
    }
}

/// Nanoseconds for each call: the slowest thread's median.
fn timed(threads: usize, call: impl Fn(&Scheduler, Key, &Context) + Sync) -> f64 {
    let scheduler = Scheduler::default();
    let barrier = Barrier::new(threads);
    let key = Key::named("measured");
    let context = Context { tokio_workers: 2, in_flight: 1, ..Context::default() };
    for _ in 0..1000 {
        let decision = scheduler.choose(key, &context);
        let total_ns = if decision.arm() == Arm::Inline { 15_000 } else { 30_000 };
        scheduler.finish(decision, Cost::total(total_ns));
    }
    let one = || {
        barrier.wait();
        let mut batches: Vec<f64> = (0..BATCHES)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..CALLS {
                    call(&scheduler, black_box(key), black_box(&context));
                }
                start.elapsed().as_nanos() as f64 / f64::from(CALLS)
            })
            .collect();
        batches.sort_by(f64::total_cmp);
        batches[BATCHES / 2]
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).fold(0.0, f64::max)
    })
}
