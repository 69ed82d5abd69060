//! The harness of `dashmap` without a ledger: what runtime, tasks and reading cost by themselves.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Drawn, Identity, LockWaits, Pins, RunError, Spawn, Streams, Transaction, Variant, Work,
    Workers, Workload, jobs, variant_main, without_locks,
};
use tokio::runtime::{Builder, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Empty>(&IDENTITY)
}

struct Empty {
    runtime: Runtime,
    spawn: Spawn,
}

impl Variant for Empty {
    type Store = ();

    fn new(workload: &Workload) -> Result<Self, RunError> {
        without_locks(workload)?;
        Ok(Self { runtime: runtime(workload)?, spawn: workload.spawn })
    }

    fn workers(&self) -> usize {
        self.runtime.metrics().num_workers()
    }

    fn runtime_readings(&self) -> Vec<(&'static str, i64)> {
        readings(&self.runtime)
    }

    fn prepare(&self, _drawn: &Drawn) {}

    fn process(&self, (): &mut (), streams: &Arc<Streams>, work: Work) -> LockWaits {
        self.runtime.block_on(async {
            let spawn = |job| {
                let streams = Arc::clone(streams);
                tokio::spawn(async move { read_all(&streams[job], work) })
            };
            let tasks: Vec<_> =
                jobs(self.spawn, self.workers(), streams.len()).map(spawn).collect();
            for task in tasks {
                task.await.expect("a task does not panic");
            }
        });
        LockWaits::default()
    }

    fn answer(&self, (): &()) -> Option<Answer> {
        None
    }
}

fn read_all(streams: &[Vec<Transaction>], mut work: Work) {
    for stream in streams {
        for transaction in stream {
            work.spin();
            black_box(transaction.amount);
        }
    }
}

fn runtime(workload: &Workload) -> Result<Runtime, RunError> {
    let pins = Pins::new(workload.pinned);
    let mut builder = match workload.workers {
        Workers::CurrentThread => {
            pins.pin_this_thread();
            Builder::new_current_thread()
        }
        Workers::Count(_) | Workers::Default => Builder::new_multi_thread(),
    };
    if let Workers::Count(count) = workload.workers {
        builder.worker_threads(count as usize);
    }
    builder.on_thread_start(move || pins.pin_this_thread()).build().map_err(RunError::setup)
}

/// What the workers tell of themselves, in sum.
fn readings(runtime: &Runtime) -> Vec<(&'static str, i64)> {
    let metrics = runtime.metrics();
    let sum = |reading: &dyn Fn(usize) -> u64| {
        (0..metrics.num_workers()).map(reading).sum::<u64>().cast_signed()
    };
    vec![
        ("tokio_parks", sum(&|worker| metrics.worker_park_count(worker))),
        (
            "tokio_busy_ns",
            sum(&|worker| metrics.worker_total_busy_duration(worker).as_nanos() as u64),
        ),
        #[cfg(tokio_unstable)]
        ("tokio_steals", sum(&|worker| metrics.worker_steal_count(worker))),
        #[cfg(tokio_unstable)]
        ("tokio_polls", sum(&|worker| metrics.worker_poll_count(worker))),
        #[cfg(tokio_unstable)]
        ("tokio_overflows", sum(&|worker| metrics.worker_overflow_count(worker))),
        #[cfg(tokio_unstable)]
        ("tokio_local_schedules", sum(&|worker| metrics.worker_local_schedule_count(worker))),
    ]
}
