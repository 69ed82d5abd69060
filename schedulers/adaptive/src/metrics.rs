//! Counters and pressure, as Prometheus scrapes them.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::decision::{Arm, Reason};
use crate::runtime::Adaptive;
use crate::scheduler::Scheduler;

/// Registers a scheduler's counters with the prefix, which an underscore follows. They are read
/// when they are scraped, and cost nothing until then.
///
/// ```
/// use adaptive::{Scheduler, metrics};
/// use prometheus_client::{encoding::text::encode, registry::Registry};
///
/// let mut registry = Registry::default();
/// metrics::register(&mut registry, "adaptive", &Scheduler::default());
/// let mut text = String::new();
/// encode(&mut text, &registry).unwrap();
/// assert!(text.contains("adaptive_gr0_activations_total 0\n"));
/// ```
pub fn register(registry: &mut Registry, prefix: &str, scheduler: &Scheduler) {
    let collector = SchedulerMetrics { scheduler: scheduler.clone() };
    registry.sub_registry_with_prefix(prefix).register_collector(Box::new(collector));
}

/// As [`register`], with the gauges of both pools beside the counters.
pub fn register_adaptive(registry: &mut Registry, prefix: &str, adaptive: &Adaptive) {
    register(registry, prefix, adaptive.scheduler());
    let collector = GaugeMetrics { adaptive: adaptive.clone() };
    registry.sub_registry_with_prefix(prefix).register_collector(Box::new(collector));
}

#[derive(Debug)]
struct SchedulerMetrics {
    scheduler: Scheduler,
}

impl Collector for SchedulerMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let counters = self.scheduler.counters();
        let [gr0, gr1, gr2, gr3] = counters.guardrails();
        let learned = |arm| counters.decisions(arm, Reason::Learned);
        let values = [
            ("inline_decisions", "Calls run on a Tokio worker", counters.of_arm(Arm::Inline)),
            ("offload_decisions", "Calls run on the pool", counters.of_arm(Arm::Offload)),
            ("learned_inline", "Calls drawn inline", learned(Arm::Inline)),
            ("learned_offload", "Calls drawn to the pool", learned(Arm::Offload)),
            ("cold_decisions", "Calls decided by hint", counters.of_reason(Reason::Cold)),
            ("probes", "Calls for the sake of a sample", counters.of_reason(Reason::Probe)),
            ("gr0_activations", "Offloaded: a single worker, and not short", gr0),
            ("gr1_activations", "Offloaded: above the cap on inline time", gr1),
            ("gr2_activations", "Offloaded: others wait, and not short", gr2),
            ("gr3_activations", "Offloaded: a recent inline call was very long", gr3),
            ("strikes", "Inline calls that were very long", counters.strikes),
            ("changes", "Abrupt changes of a cost", counters.changes),
            ("finished", "Calls whose cost is known", counters.finished),
            ("overflow_decisions", "Decisions without a place of their own", counters.overflow),
        ];
        for (name, help, value) in values {
            let counter = ConstCounter::new(value);
            let kind = prometheus_client::metrics::MetricType::Counter;
            counter.encode(encoder.encode_descriptor(name, help, None, kind)?)?;
        }
        gauge(&mut encoder, "sites", "Call sites seen", self.scheduler.sites() as u64)?;
        let round_trip_ns = self.scheduler.round_trip_ns();
        gauge(&mut encoder, "round_trip_ns", "Calibrated round trip to the pool", round_trip_ns)
    }
}

#[derive(Debug)]
struct GaugeMetrics {
    adaptive: Adaptive,
}

impl Collector for GaugeMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let context = self.adaptive.context();
        let (in_flight, queued) = (context.in_flight.into(), context.rayon_queue_depth.into());
        let pressure = context.pressure_milli();
        for (name, help, value) in [
            ("in_flight", "Calls on the Tokio side", in_flight),
            ("rayon_queue_depth", "Jobs that wait for the pool", queued),
            ("queued_tasks", "Tasks that wait for a worker", context.queued_tasks.into()),
            ("queue_delay_ns", "Time from waking a task to its poll", context.queue_delay_ns),
            ("poll_time_ns", "Time of a poll", context.poll_time_ns),
            ("pressure_milli", "Tasks that wait for each worker, in thousandths", pressure),
        ] {
            gauge(&mut encoder, name, help, value)?;
        }
        Ok(())
    }
}

fn gauge(encoder: &mut DescriptorEncoder, name: &str, help: &str, value: u64) -> fmt::Result {
    let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
    let kind = prometheus_client::metrics::MetricType::Gauge;
    gauge.encode(encoder.encode_descriptor(name, help, None, kind)?)
}
