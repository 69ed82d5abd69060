//! The harness of `dashmap` without a ledger: what runtime, tasks and reading cost by themselves.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Drawn, Identity, LockWaits, RunError, Spawn, Streams, Transaction, Variant, Work,
    Workload, jobs, variant_main, without_locks,
};
use ledgers_tokio_runtime::{readings, runtime};
use tokio::runtime::Runtime;

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
