//! What the variants on Tokio share: the runtime that a workload asks for, and what it tells.

#![forbid(unsafe_code)]

use ledgers_kit::{Pins, RunError, Workers, Workload};
use tokio::runtime::{Builder, Runtime};

/// The runtime.
///
/// # Errors
/// It cannot be built.
pub fn runtime(workload: &Workload) -> Result<Runtime, RunError> {
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
pub fn readings(runtime: &Runtime) -> Vec<(&'static str, i64)> {
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
