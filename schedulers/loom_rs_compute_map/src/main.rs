//! What the published report measured its `adaptive_map` against: the crate's own `compute_map`,
//! which hands one item after the other to its pool.
//!
//! Streams go through that map in the crate's own runtime. Every other test offloads everything, as
//! `always_offload` does, for there is nothing of the crate's to ask.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;

use futures_util::{StreamExt, stream};
use loom_rs::{ComputeStreamExt, LoomBuilder, LoomRuntime};
use schedulers_kit::{
    Arm, Ask, Bench, Cost, Done, Identity, Item, Policy, RunError, Setup, Stream, Test, Workload,
    variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<ComputeMap>(&IDENTITY)
}

struct ComputeMap {
    /// For streams alone.
    runtime: Option<LoomRuntime>,
}

impl Policy for ComputeMap {
    type Asked = ();
    type Pending = ();

    fn new(setup: &Setup) -> Result<Self, RunError> {
        let runtime = match setup.workload.test {
            Test::Stream(_) => Some(runtime(setup.workload)?),
            Test::Decide(_) | Test::Replay(_) | Test::Wake(_) => None,
        };
        Ok(Self { runtime })
    }

    fn ask(_: &Ask) {}

    fn choose(&self, (): &()) -> (Arm, ()) {
        (Arm::Offload, ())
    }

    fn finish(&self, (): (), _: Cost) {}

    fn map(self: &Arc<Self>, _: &Bench, items: Vec<Item>, _: &Stream) -> Vec<Done> {
        let runtime = self.runtime.as_ref().expect("a stream's policy has a runtime");
        let mapped = stream::iter(items).compute_map(Item::run).collect();
        // On a worker, as with the other policies, not on the thread that waits.
        let task = runtime.spawn_async(mapped);
        runtime.block_on(task).expect("the items' work does not panic")
    }
}

/// Pinned where the others are. It refuses more threads than there are processors; as its map never
/// offloads two items at once, fewer threads of the pool take nothing from it.
fn runtime(workload: &Workload) -> Result<LoomRuntime, RunError> {
    let cpus = available_parallelism().map_err(RunError::setup)?.get();
    let workers = workload.tokio_workers as usize;
    let threads = cpus.saturating_sub(workers).min(workload.rayon_threads as usize);
    if threads == 0 {
        return Err(RunError::unsupported(format!(
            "loom-rs refuses more threads than processors: set tokio_workers below {cpus}"
        )));
    }
    let builder = LoomBuilder::new().tokio_threads(workers).rayon_threads(threads);
    builder.pin_threads(workload.pinned).build().map_err(RunError::setup)
}
