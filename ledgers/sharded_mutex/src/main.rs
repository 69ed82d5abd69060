//! Plain maps in shards, each behind a std mutex, that the tasks of a Tokio runtime share.

#![forbid(unsafe_code)]

mod store;

use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Drawn, Identity, LockWaits, RunError, Spawn, Streams, Variant, Work, Workload,
    default_shards, jobs, variant_main,
};
use ledgers_tokio_runtime::{readings, runtime};
use store::Shards;
use tokio::runtime::Runtime;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<ShardedMutex>(&IDENTITY)
}

struct ShardedMutex {
    runtime: Runtime,
    spawn: Spawn,
    shards: usize,
    watch_locks: bool,
}

impl Variant for ShardedMutex {
    type Store = Arc<Shards>;

    fn new(workload: &Workload) -> Result<Self, RunError> {
        Ok(Self {
            runtime: runtime(workload)?,
            spawn: workload.spawn,
            shards: workload.shards.map_or_else(default_shards, |shards| shards as usize),
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

    fn prepare(&self, drawn: &Drawn) -> Arc<Shards> {
        Arc::new(Shards::open(drawn, self.shards, self.watch_locks))
    }

    fn process(&self, store: &mut Arc<Shards>, streams: &Arc<Streams>, work: Work) -> LockWaits {
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

    fn answer(&self, store: &Arc<Shards>) -> Option<Answer> {
        Some(store.answer())
    }
}
