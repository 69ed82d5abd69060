//! Closures and streams on real pools.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use adaptive::{Adaptive, AdaptiveStreamExt, Arm, Config, Hint, Key, Reason, Scheduler, metrics};
use futures_util::{StreamExt, stream};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::runtime::{Builder, Runtime};

fn runtime(workers: usize) -> (Runtime, Adaptive) {
    let runtime =
        Builder::new_multi_thread().worker_threads(workers).enable_time().build().unwrap();
    let adaptive = Adaptive::new(runtime.handle().clone(), 2, Scheduler::default()).unwrap();
    (runtime, adaptive)
}

#[test]
fn both_arms_give_their_results() {
    let (runtime, adaptive) = runtime(2);
    let [low, high] = [Hint::Low, Hint::High].map(|hint| {
        let name = move || thread::current().name().unwrap_or_default().to_owned();
        runtime.block_on(adaptive.spawn_with(Key::named(&format!("{hint:?}")), hint, name)).unwrap()
    });
    assert!(low.starts_with("tokio"), "{low}");
    assert!(high.starts_with("adaptive-"), "{high}");
    let counters = adaptive.scheduler().counters();
    assert_eq!(counters.decisions(Arm::Inline, Reason::Cold), 1);
    assert_eq!(counters.decisions(Arm::Offload, Reason::Cold), 1);
    assert_eq!(counters.finished, 2);
    assert_eq!(runtime.block_on(adaptive.spawn_adaptive(|| 7)).unwrap(), 7);
    assert_eq!(runtime.block_on(adaptive.spawn_adaptive_with_hint(Hint::Low, || 8)).unwrap(), 8);
    assert_eq!(runtime.block_on(adaptive.run(Key::new(1), Hint::High, || 9)), 9);
}

#[test]
fn ordered_and_unordered_maps_give_every_result() {
    let (runtime, adaptive) = runtime(2);
    let expected: Vec<u64> = (0..3000).map(|item| item * item).collect();
    for concurrency in [0, 1, 4, 64] {
        let items = || stream::iter(0..3000_u64);
        let ordered = items().adaptive_map(&adaptive, concurrency, |item| item * item);
        assert_eq!(runtime.block_on(ordered.collect::<Vec<_>>()), expected);

        let unordered = items().adaptive_map_unordered(&adaptive, concurrency, |item| item * item);
        let mut found = runtime.block_on(unordered.collect::<Vec<_>>());
        found.sort_unstable();
        assert_eq!(found, expected);

        let keyed = items().adaptive_map_keyed(
            &adaptive,
            concurrency,
            |item| Key::named("keyed").sized(item.max(&1).ilog2()),
            |item| item * item,
        );
        assert_eq!(runtime.block_on(keyed.collect::<Vec<_>>()), expected);
    }
    assert_eq!(adaptive.context().in_flight, 0);
    assert_eq!(adaptive.context().rayon_queue_depth, 0);
}

/// Both items wait for each other: they only ever end if both run at once.
#[test]
fn items_run_in_parallel_on_either_arm() {
    for hint in [Hint::Low, Hint::High] {
        let (runtime, adaptive) = runtime(2);
        let key = Key::named("meeting");
        // Teaches the site that it is long, so that it is not run in place, and where it belongs.
        let round_trip = if hint == Hint::Low { u64::MAX / 4 } else { 1 };
        adaptive.scheduler().set_round_trip_ns(round_trip);
        let long = || thread::sleep(Duration::from_micros(50));
        runtime.block_on(adaptive.run(key, hint, long));
        let barrier = Arc::new(Barrier::new(2));
        let meeting = stream::iter(0..2).adaptive_map_keyed(
            &adaptive,
            2,
            move |_| key,
            move |item| {
                barrier.wait();
                item
            },
        );
        assert_eq!(runtime.block_on(meeting.collect::<Vec<_>>()), [0, 1]);
    }
}

#[test]
fn a_panic_reaches_the_caller_and_poisons_nothing() {
    let (runtime, adaptive) = runtime(2);
    for hint in [Hint::Low, Hint::High] {
        let key = Key::named("panics").sized(hint as u32);
        let task = adaptive.spawn_with(key, hint, || panic!("broken work"));
        let panic = runtime.block_on(task).unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref(), Some(&"broken work"));
        let after = adaptive.spawn_with(key, hint, || 5);
        assert_eq!(runtime.block_on(after).unwrap(), 5);
    }
    let broken = stream::iter(0..100).adaptive_map(&adaptive, 4, |item: u32| {
        assert!(item != 50, "broken item");
        item
    });
    let results = catch_unwind(AssertUnwindSafe(|| runtime.block_on(broken.collect::<Vec<_>>())));
    assert!(results.is_err());
    let whole = stream::iter(0..100).adaptive_map(&adaptive, 4, |item: u32| item);
    assert_eq!(runtime.block_on(whole.collect::<Vec<_>>()).len(), 100);
    assert!(adaptive.scheduler().counters().finished > 100);
}

#[test]
fn work_that_nobody_waits_for_is_not_begun() {
    let (runtime, _) = runtime(1);
    let scheduler = Scheduler::new(Config::default()).unwrap();
    let adaptive = Adaptive::new(runtime.handle().clone(), 1, scheduler).unwrap();
    let begun = Arc::new(AtomicUsize::new(0));
    let (open, gate) = std::sync::mpsc::channel::<()>();
    adaptive.pool().spawn(move || {
        let _ = gate.recv();
    });
    let count = Arc::clone(&begun);
    let mut call = Box::pin(adaptive.run(Key::new(1), Hint::High, move || {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    runtime.block_on(async {
        assert!(futures_util::poll!(&mut call).is_pending());
    });
    drop(call);
    open.send(()).unwrap();
    adaptive.pool().install(|| ());
    assert_eq!(begun.load(Ordering::Relaxed), 0);
    assert_eq!(adaptive.context().rayon_queue_depth, 0);
}

#[test]
fn calibration_measures_a_round_trip_and_the_probe_a_delay() {
    let (runtime, adaptive) = runtime(2);
    adaptive.scheduler().set_round_trip_ns(0);
    let median_ns = runtime.block_on(adaptive.calibrate(100));
    assert!(median_ns > 0);
    assert_eq!(adaptive.scheduler().round_trip_ns(), median_ns);
    let probe = adaptive.start_probe(Duration::from_millis(1));
    adaptive.gauge().record_poll(1000);
    let measured = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(1));
        adaptive.context().poll_time_ns > 0
    });
    assert!(measured, "a poll time is shown once a delay was measured");
    drop(probe);
}

#[test]
fn tasks_of_others_that_wait_for_the_runtime_are_pressure() {
    let (runtime, adaptive) = runtime(1);
    let (begun, begins) = std::sync::mpsc::channel();
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let blocks = runtime.spawn(async move {
        begun.send(()).unwrap();
        let _ = gate.recv();
    });
    begins.recv().unwrap();
    let others: Vec<_> = (0..5).map(|_| runtime.spawn(async {})).collect();
    assert_eq!((adaptive.context().queued_tasks, adaptive.context().in_flight), (5, 0));
    assert!(adaptive.context().waiting_at_least(12));
    open.send(()).unwrap();
    runtime.block_on(async {
        for task in others.into_iter().chain([blocks]) {
            task.await.unwrap();
        }
    });
    assert_eq!(adaptive.context().queued_tasks, 0);
}

#[test]
fn metrics_show_every_counter() {
    let (runtime, adaptive) = runtime(2);
    runtime.block_on(adaptive.run(Key::new(1), Hint::High, || ()));
    runtime.block_on(adaptive.run(Key::new(2), Hint::Low, || ()));
    let mut registry = Registry::default();
    metrics::register_adaptive(&mut registry, "lab", &adaptive);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for line in [
        "lab_inline_decisions_total 1",
        "lab_offload_decisions_total 1",
        "lab_learned_inline_total 0",
        "lab_learned_offload_total 0",
        "lab_cold_decisions_total 2",
        "lab_probes_total 0",
        "lab_gr0_activations_total 0",
        "lab_gr1_activations_total 0",
        "lab_gr2_activations_total 0",
        "lab_gr3_activations_total 0",
        "lab_strikes_total 0",
        "lab_changes_total 0",
        "lab_finished_total 2",
        "lab_overflow_decisions_total 0",
        "lab_sites 2",
        "lab_round_trip_ns 20000",
        "lab_in_flight 0",
        "lab_rayon_queue_depth 0",
        "lab_queued_tasks 0",
        "lab_pressure_milli 0",
    ] {
        assert!(text.lines().any(|found| found == line), "no line {line} in:\n{text}");
    }
}
