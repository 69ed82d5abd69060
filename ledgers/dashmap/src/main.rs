//! Two `DashMap`s that the tasks of a Tokio runtime share, as in the published benchmark.

use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Dash, Drawn, Identity, LockWaits, Pins, RunError, Spawn, Streams, Variant, Work,
    Workers, Workload, dash_shards, jobs, variant_main,
};
use tokio::runtime::{Builder, Runtime};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Dashmap>(&IDENTITY)
}

struct Dashmap {
    runtime: Runtime,
    spawn: Spawn,
    shards: usize,
    watch_locks: bool,
}

impl Variant for Dashmap {
    type Store = Arc<Dash>;

    fn new(workload: &Workload) -> Result<Self, RunError> {
        Ok(Self {
            runtime: runtime(workload)?,
            spawn: workload.spawn,
            shards: dash_shards(workload.shards)?,
            watch_locks: workload.watch_locks,
        })
    }

    fn workers(&self) -> usize {
        self.runtime.metrics().num_workers()
    }

    fn shards(&self) -> Option<usize> {
        Some(self.shards)
    }

    fn runtime_readings(&self) -> Vec<(&'static str, i64)> {
        readings(&self.runtime)
    }

    fn prepare(&self, drawn: &Drawn) -> Arc<Dash> {
        Arc::new(Dash::open(drawn, self.shards, self.watch_locks))
    }

    fn process(&self, store: &mut Arc<Dash>, streams: &Arc<Streams>, work: Work) -> LockWaits {
        self.runtime.block_on(async {
            let spawn = |job| {
                let (store, streams) = (Arc::clone(store), Arc::clone(streams));
                tokio::spawn(async move { store.apply_all(&streams[job], work) })
            };
            let tasks: Vec<_> =
                jobs(self.spawn, self.workers(), streams.len()).map(spawn).collect();
            let mut waits = LockWaits::default();
            for task in tasks {
                waits += task.await.expect("a task does not panic");
            }
            waits
        })
    }

    fn answer(&self, store: &Arc<Dash>) -> Option<Answer> {
        Some(store.answer())
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
