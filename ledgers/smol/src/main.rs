//! Two `DashMap`s that the tasks of a smol executor share.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use ledgers_kit::{
    Answer, Dash, Drawn, Identity, LockWaits, Pins, RunError, Spawn, Streams, Variant, Work,
    Workers, Workload, dash_shards, jobs, variant_main,
};
use smol::channel::{Sender, unbounded};
use smol::{Executor, block_on};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Smol>(&IDENTITY)
}

struct Smol {
    executor: Arc<Executor<'static>>,
    /// Threads that run the executor; without any, it runs on the thread that waits.
    threads: usize,
    spawn: Spawn,
    shards: usize,
    watch_locks: bool,
    /// The threads end when this is dropped.
    _running: Sender<()>,
}

impl Variant for Smol {
    type Store = Arc<Dash>;

    fn new(workload: &Workload) -> Result<Self, RunError> {
        let shards = dash_shards(workload.shards)?;
        let threads = match workload.workers {
            Workers::Count(count) => count as usize,
            // As `smol::spawn` chooses, unless SMOL_THREADS says otherwise.
            Workers::Default => 1,
            Workers::CurrentThread => 0,
        };
        let pins = Arc::new(Pins::new(workload.pinned));
        if threads == 0 {
            pins.pin_this_thread();
        }
        let executor = Arc::new(Executor::new());
        let (running, stopped) = unbounded::<()>();
        for _ in 0..threads {
            let (executor, pins) = (Arc::clone(&executor), Arc::clone(&pins));
            let stopped = stopped.clone();
            let thread = thread::Builder::new().spawn(move || {
                pins.pin_this_thread();
                // An error is how a channel says that its sender was dropped.
                let _ = block_on(executor.run(stopped.recv()));
            });
            thread.map_err(RunError::setup)?;
        }
        let Workload { spawn, watch_locks, .. } = *workload;
        Ok(Self { executor, threads, spawn, shards, watch_locks, _running: running })
    }

    fn workers(&self) -> usize {
        self.threads.max(1)
    }

    fn shards(&self) -> Option<usize> {
        Some(self.shards)
    }

    fn prepare(&self, drawn: &Drawn) -> Arc<Dash> {
        Arc::new(Dash::open(drawn, self.shards, self.watch_locks))
    }

    fn process(&self, store: &mut Arc<Dash>, streams: &Arc<Streams>, work: Work) -> LockWaits {
        let all = async {
            let spawn = |job| {
                let (store, streams) = (Arc::clone(store), Arc::clone(streams));
                self.executor.spawn(async move { store.apply_all(&streams[job], work) })
            };
            let tasks: Vec<_> =
                jobs(self.spawn, self.workers(), streams.len()).map(spawn).collect();
            let mut waits = LockWaits::default();
            for task in tasks {
                waits += task.await;
            }
            waits
        };
        if self.threads == 0 { block_on(self.executor.run(all)) } else { block_on(all) }
    }

    fn answer(&self, store: &Arc<Dash>) -> Option<Answer> {
        Some(store.answer())
    }
}
