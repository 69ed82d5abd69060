//! The four tests with policies made for it: what a broken one leaves, and what known decisions
//! come to. Programs that do the same are in the conformance tests.

use std::sync::atomic::{AtomicU64, Ordering};

use schedulers_kit::{
    Arm, Ask, Cost, Decide, Load, Measured, Part, Policy, Replay, RunError, Setup, Stream, Test,
    Truth, Wake, Workload, measure, stream_answer,
};

/// Always takes the dearer arm: whatever a report demands of a policy, this one does not do it.
struct Perverse;

impl Policy for Perverse {
    type Asked = Truth;
    type Pending = ();

    fn new(_: &Setup) -> Result<Self, RunError> {
        Ok(Self)
    }

    fn ask(ask: &Ask) -> Truth {
        ask.truth.unwrap()
    }

    fn choose(&self, truth: &Truth) -> (Arm, ()) {
        let dearer = if truth.best() == Arm::Inline { Arm::Offload } else { Arm::Inline };
        (dearer, ())
    }

    fn finish(&self, (): (), _: Cost) {}
}

/// Takes the arms in turn, and checks that it is told what each decision of its own cost.
#[derive(Default)]
struct Alternating {
    decided: AtomicU64,
    finished: AtomicU64,
}

impl Policy for Alternating {
    type Asked = Truth;
    type Pending = (Truth, Arm);

    fn new(_: &Setup) -> Result<Self, RunError> {
        Ok(Self::default())
    }

    fn ask(ask: &Ask) -> Truth {
        assert!(ask.in_flight >= 1 && ask.tokio_workers == 2 && ask.rayon_threads == 1);
        ask.truth.unwrap()
    }

    fn choose(&self, truth: &Truth) -> (Arm, (Truth, Arm)) {
        let turn = self.decided.fetch_add(1, Ordering::Relaxed);
        let arm = if turn.is_multiple_of(2) { Arm::Inline } else { Arm::Offload };
        (arm, (*truth, arm))
    }

    fn finish(&self, (truth, arm): (Truth, Arm), cost: Cost) {
        self.finished.fetch_add(1, Ordering::Relaxed);
        if truth.inline_ns == 70 {
            let expected = if arm == Arm::Inline { (70, Some(70)) } else { (50, None) };
            assert_eq!((cost.total_ns, cost.function_ns), expected);
        }
        assert!(cost.function_ns.is_none_or(|function_ns| function_ns <= cost.total_ns));
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let (decided, finished) = (&self.decided, &self.finished);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![("decided", read(decided)), ("finished", read(finished))]
    }
}

fn run<P: Policy>(test: Test) -> Measured {
    let workload = Workload { seed: 3, tokio_workers: 2, rayon_threads: 1, pinned: false, test };
    measure::<P>(&workload).unwrap()
}

fn replay() -> Test {
    Test::Replay(Replay {
        site: vec![0; 6],
        size: vec![0; 6],
        inline_ns: vec![70, 70, 10, 10, 30, 30],
        offload_ns: vec![50, 50, 90, 90, 30, 30],
    })
}

#[test]
fn a_replay_tells_what_was_taken_and_what_the_other_arm_would_have_saved() {
    let measured = run::<Alternating>(replay());
    assert_eq!(measured.samples["arm"], [0, 1, 0, 1, 0, 1]);
    assert_eq!(measured.samples["cost_ns"], [70, 50, 10, 90, 30, 30]);
    assert_eq!(measured.samples["regret_ns"], [20, 0, 0, 80, 0, 0]);
    assert_eq!((measured.counters["decided"], measured.counters["finished"]), (6, 6));
}

#[test]
fn the_dearer_arm_at_every_step_is_the_most_regret_there_is() {
    let measured = run::<Perverse>(replay());
    assert_eq!(measured.samples["regret_ns"], [20, 20, 80, 80, 0, 0]);
    assert_eq!(measured.counters["decisions_inline"], 2);
}

#[test]
fn every_decision_of_a_batch_is_finished_and_the_warm_up_is_not_a_row() {
    for (part, left) in [(Part::Choose, true), (Part::Cycle, true), (Part::Cold, false)] {
        let measured = run::<Alternating>(Test::Decide(Decide {
            part,
            deciders: 3,
            calls: 100,
            batches: 4,
            warmup_batches: 2,
            keys: 7,
        }));
        assert_eq!(measured.samples["decider"], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(measured.samples["calls"], [100; 12]);
        assert_eq!(measured.samples["batch_ns"].len(), 12);
        let made = measured.counters["decisions_inline"] + measured.counters["decisions_offload"];
        assert_eq!(made, 1_800);
        if left {
            assert_eq!((measured.counters["decided"], measured.counters["finished"]), (made, made));
        }
    }
}

#[test]
fn a_stream_gives_every_item_once_whatever_the_order() {
    for (concurrency, ordered) in [(1, true), (4, true), (4, false)] {
        let measured = run::<Alternating>(Test::Stream(Stream {
            class_work_ns: vec![1_000, 20_000],
            items: 50,
            concurrency,
            ordered,
            warmup_repetitions: 1,
            repetitions: 2,
        }));
        assert_eq!(measured.samples["answer"], [stream_answer(0..50); 2]);
        assert_eq!(measured.samples["inline_items"], [25, 25]);
        assert_eq!(measured.samples["offload_items"], [25, 25]);
        assert_eq!(measured.counters["finished"], 150);
        assert!(measured.samples["item_work_ns"].iter().all(|&work_ns| work_ns > 0));
    }
}

fn wake(load: Load) -> Test {
    Test::Wake(Wake { duration_ms: 40, tick_us: 500, load })
}

#[test]
fn a_wake_has_a_row_for_every_intended_tick_and_job() {
    let measured = run::<Alternating>(wake(Load::Open { work_ns: 100_000, every_us: 1_000 }));
    assert_eq!(measured.samples["tick_latency_ns"].len(), 80);
    for column in ["job_latency_ns", "job_work_ns", "job_arm"] {
        assert_eq!(measured.samples[column].len(), 40, "{column}");
    }
    // 200 ms of warm-up.
    assert_eq!(measured.counters["finished"], 240);
    // Long enough that a busy machine starts some job.
    let load = Load::Closed { work_ns: 100_000, in_flight: 3 };
    let measured = run::<Alternating>(Test::Wake(Wake { duration_ms: 1_000, tick_us: 500, load }));
    assert_eq!(measured.samples["tick_latency_ns"].len(), 2_000);
    assert_eq!(measured.samples["job_arm"].len() as u64, measured.counters["jobs_started"]);
    assert!(measured.counters["jobs_started"] > 0);
    let measured = run::<Alternating>(wake(Load::Idle));
    assert_eq!(measured.counters["decided"], 0);
    assert!(measured.samples["job_arm"].is_empty());
}

#[test]
fn a_load_that_never_ends_is_a_failure_with_its_reason() {
    // Work of 20 ms each 20 µs: a thousand times what two workers can do.
    let load = Load::Open { work_ns: 20_000_000, every_us: 20 };
    let test = Test::Wake(Wake { duration_ms: 100, tick_us: 1_000, load });
    let workload = Workload { seed: 3, tokio_workers: 2, rayon_threads: 1, pinned: false, test };
    let error = measure::<Alternating>(&workload).unwrap_err();
    assert!(error.to_string().contains("4096 jobs were in flight"), "{error}");
}

/// Panics in its third decision.
struct Panicking(AtomicU64);

impl Policy for Panicking {
    type Asked = ();
    type Pending = ();

    fn new(_: &Setup) -> Result<Self, RunError> {
        Ok(Self(AtomicU64::new(0)))
    }

    fn ask(_: &Ask) {}

    fn choose(&self, (): &()) -> (Arm, ()) {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) != 2, "the third decision");
        (Arm::Inline, ())
    }

    fn finish(&self, (): (), _: Cost) {}
}

#[test]
fn a_policy_that_panics_ends_every_test() {
    let part = Part::Cycle;
    let decide = Decide { part, deciders: 2, calls: 10, batches: 2, warmup_batches: 0, keys: 1 };
    let stream = Stream {
        class_work_ns: vec![1_000],
        items: 8,
        concurrency: 2,
        ordered: true,
        warmup_repetitions: 0,
        repetitions: 1,
    };
    let open = wake(Load::Open { work_ns: 1_000, every_us: 1_000 });
    for test in [Test::Decide(decide), replay(), Test::Stream(stream), open] {
        let workload =
            Workload { seed: 3, tokio_workers: 1, rayon_threads: 1, pinned: false, test };
        let result = std::panic::catch_unwind(|| measure::<Panicking>(&workload).is_ok());
        assert!(result.is_err());
    }
}
