//! The adaptive library of this repository with its defaults. It is told the round trip that was
//! measured, as its own calibration would. Streams go through its own map, with the class as the
//! key; it keeps what it learned from one repetition to the next.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use adaptive::{
    Adaptive, AdaptiveStreamExt, Arm as Chosen, Config, Context, Cost as Told, Decision, Key,
    Scheduler,
};
use futures_util::{StreamExt, stream};
use schedulers_kit::{
    Arm, Ask, Bench, Cost, Done, Identity, Item, Policy, RunError, Setup, Stream, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Thompson>(&IDENTITY)
}

struct Thompson {
    scheduler: Scheduler,
    /// For streams alone.
    adaptive: OnceLock<Adaptive>,
}

impl Policy for Thompson {
    type Asked = (Key, Context);
    type Pending = Decision;

    fn new(setup: &Setup) -> Result<Self, RunError> {
        let config = Config { seed: setup.workload.seed, ..Config::default() };
        let scheduler = Scheduler::new(config).map_err(RunError::setup)?;
        if let Some(round_trip_ns) = setup.offload_round_trip_ns {
            scheduler.set_round_trip_ns(round_trip_ns);
        }
        Ok(Self { scheduler, adaptive: OnceLock::new() })
    }

    fn ask(ask: &Ask) -> (Key, Context) {
        let context = Context {
            tokio_workers: ask.tokio_workers,
            in_flight: ask.in_flight,
            queue_delay_ns: ask.queue_delay_ns,
            poll_time_ns: ask.poll_time_ns,
            rayon_threads: ask.rayon_threads,
            rayon_queue_depth: ask.rayon_queue_depth,
            ..Context::default()
        };
        (key(ask.site).sized(u64::BITS - ask.size.leading_zeros()), context)
    }

    fn choose(&self, (key, context): &(Key, Context)) -> (Arm, Decision) {
        let decision = self.scheduler.choose(*key, context);
        let arm = match decision.arm() {
            Chosen::Inline => Arm::Inline,
            Chosen::Offload => Arm::Offload,
        };
        (arm, decision)
    }

    fn finish(&self, decision: Decision, cost: Cost) {
        let Cost { total_ns, function_ns } = cost;
        self.scheduler.finish(decision, Told { total_ns, function_ns, queued_ns: None });
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = self.scheduler.counters();
        let names = ["gr0_activations", "gr1_activations", "gr2_activations", "gr3_activations"];
        let guardrails = names.into_iter().zip(counters.guardrails());
        guardrails.chain([("strikes", counters.strikes)]).collect()
    }

    fn pressure_milli(&self, (_, context): &(Key, Context)) -> Option<u64> {
        Some(context.pressure_milli())
    }

    /// The library has no unordered map with keys, so both kinds of streams keep their order.
    fn map(self: &Arc<Self>, bench: &Bench, items: Vec<Item>, stream: &Stream) -> Vec<Done> {
        let join = || {
            let (handle, pool) = (bench.handle().clone(), Arc::clone(bench.pool()));
            Adaptive::with_pool(handle, pool, self.scheduler.clone())
        };
        let adaptive = self.adaptive.get_or_init(join).clone();
        let concurrency = stream.concurrency as usize;
        bench.on_a_worker(async move {
            let key = |item: &Item| key(item.site());
            let mapped =
                stream::iter(items).adaptive_map_keyed(&adaptive, concurrency, key, Item::run);
            mapped.collect().await
        })
    }
}

fn key(site: u32) -> Key {
    Key::new(site.into())
}
