//! Two `DashMap`s that the jobs of a rayon pool share.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Dash, Drawn, Identity, LockWaits, Pins, RunError, Spawn, Streams, Variant, Work,
    Workers, Workload, dash_shards, jobs, variant_main,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Rayon>(&IDENTITY)
}

struct Rayon {
    pool: ThreadPool,
    spawn: Spawn,
    shards: usize,
    watch_locks: bool,
}

impl Variant for Rayon {
    type Store = Dash;

    fn new(workload: &Workload) -> Result<Self, RunError> {
        let threads = match workload.workers {
            Workers::Count(count) => count as usize,
            Workers::Default => 0, // rayon's word for its own choice
            Workers::CurrentThread => {
                return Err(RunError::unsupported(
                    "a rayon pool has threads of its own: set workers to a count or default",
                ));
            }
        };
        let pins = Pins::new(workload.pinned);
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.start_handler(move |_| pins.pin_this_thread());
        Ok(Self {
            pool: pool.build().map_err(RunError::setup)?,
            spawn: workload.spawn,
            shards: dash_shards(workload.shards)?,
            watch_locks: workload.watch_locks,
        })
    }

    fn workers(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn shards(&self) -> Option<usize> {
        Some(self.shards)
    }

    fn prepare(&self, drawn: &Drawn) -> Dash {
        Dash::open(drawn, self.shards, self.watch_locks)
    }

    fn process(&self, store: &mut Dash, streams: &Arc<Streams>, work: Work) -> LockWaits {
        let store = &*store;
        let mut jobs: Vec<_> = jobs(self.spawn, self.workers(), streams.len())
            .map(|job| (job, LockWaits::default()))
            .collect();
        self.pool.in_place_scope(|scope| {
            for (job, waits) in &mut jobs {
                scope.spawn(|_| *waits = store.apply_all(&streams[job.clone()], work));
            }
        });
        jobs.into_iter().map(|(_, waits)| waits).sum()
    }

    fn answer(&self, store: &Dash) -> Option<Answer> {
        Some(store.answer())
    }
}
