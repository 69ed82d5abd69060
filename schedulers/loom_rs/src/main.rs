//! The crate loom-rs through its public API, with its default knobs.
//!
//! Decisions, replays and wake-ups ask its `MabScheduler` as its own documentation does. Streams go
//! through its own `adaptive_map` in its own runtime: that map works on one item at a time whatever
//! the concurrency, learns anew in each stream, and knows one call site, that of its closure.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;

use futures_util::{StreamExt, stream};
use loom_rs::mab::{Arm as LoomArm, Context, DecisionId, FunctionKey, MabKnobs, MabScheduler};
use loom_rs::{ComputeHintProvider, ComputeStreamExt, LoomBuilder, LoomMetrics, LoomRuntime};
use schedulers_kit::{
    Arm, Ask, Bench, Cost, Done, Identity, Item, Policy, RunError, Setup, Stream, Test, Workload,
    variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Loom>(&IDENTITY)
}

struct Loom {
    scheduler: MabScheduler,
    /// The scheduler's counters; none where decisions are timed, as in the seed's own timing.
    metrics: Option<LoomMetrics>,
    /// For streams alone.
    runtime: Option<LoomRuntime>,
}

impl Policy for Loom {
    type Asked = (FunctionKey, Context);
    type Pending = DecisionId;

    fn new(setup: &Setup) -> Result<Self, RunError> {
        let knobs = MabKnobs::default();
        match setup.workload.test {
            Test::Decide(_) => {
                let scheduler = MabScheduler::new(knobs);
                Ok(Self { scheduler, metrics: None, runtime: None })
            }
            Test::Stream(_) => {
                let runtime = runtime(setup.workload)?;
                let metrics = runtime.prometheus_metrics().clone();
                let scheduler = MabScheduler::new(knobs);
                Ok(Self { scheduler, metrics: Some(metrics), runtime: Some(runtime) })
            }
            Test::Replay(_) | Test::Wake(_) => {
                let metrics = LoomMetrics::new();
                let scheduler = MabScheduler::with_metrics(knobs, metrics.clone());
                Ok(Self { scheduler, metrics: Some(metrics), runtime: None })
            }
        }
    }

    fn ask(ask: &Ask) -> (FunctionKey, Context) {
        let context = Context {
            tokio_workers: ask.tokio_workers,
            inflight_tasks: ask.in_flight,
            spawn_rate_per_s: ask.spawns_per_second as f32,
            rayon_threads: ask.rayon_threads,
            rayon_queue_depth: ask.rayon_queue_depth,
        };
        // It has no size classes.
        (FunctionKey(ask.site.into()), context)
    }

    fn choose(&self, (key, context): &(FunctionKey, Context)) -> (Arm, DecisionId) {
        let (id, arm) = self.scheduler.choose(*key, context);
        let arm = match arm {
            LoomArm::InlineTokio => Arm::Inline,
            LoomArm::OffloadRayon => Arm::Offload,
        };
        (arm, id)
    }

    fn finish(&self, id: DecisionId, cost: Cost) {
        let us = |ns: u64| ns as f64 / 1e3;
        self.scheduler.finish(id, us(cost.total_ns), cost.function_ns.map(us));
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Some(metrics) = &self.metrics else { return Vec::new() };
        // There is no counter of its first guardrail.
        vec![
            ("gr1_activations", metrics.gr1_activations.get()),
            ("gr2_activations", metrics.gr2_activations.get()),
            ("gr3_activations", metrics.gr3_activations.get()),
            ("strikes", metrics.starvation_events.get()),
        ]
    }

    /// What its gauge shows: the index at the decision before.
    fn pressure_milli(&self, _: &(FunctionKey, Context)) -> Option<u64> {
        let metrics = self.metrics.as_ref()?;
        Some((1e3 * metrics.pressure_index.get()) as u64)
    }

    fn map(self: &Arc<Self>, _: &Bench, items: Vec<Item>, _: &Stream) -> Vec<Done> {
        let runtime = self.runtime.as_ref().expect("a stream's policy has a runtime");
        let stream = stream::iter(items.into_iter().map(Hinted));
        let mapped = stream.adaptive_map(|Hinted(item)| item.run()).collect();
        // On a worker, as with the other policies, not on the thread that waits.
        let task = runtime.spawn_async(mapped);
        runtime.block_on(task).expect("the items' work does not panic")
    }
}

/// An item that says nothing of its cost.
struct Hinted(Item);

impl ComputeHintProvider for Hinted {}

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
