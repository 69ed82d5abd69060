//! The schedule as a pure state machine: nothing here reads a clock.

use lab_sim::schedule::{Schedule, Step};
use lab_sim::{LogNormalMs, Mode, ServerSpec, text};
use proptest::prelude::*;

/// Rates of TR115's raw data: 108 tokens/s alone, 41 each for two.
const RATES: [f64; 2] = [108.0, 41.0];

/// Runs arrivals `(at, work)` to the end and returns the steps in the order they came due.
fn play(mode: Mode, rates: &[f64], arrivals: &[(u64, Vec<u64>)]) -> Vec<Step> {
    let mut schedule = Schedule::new(mode, rates);
    let mut steps = Vec::new();
    for (id, (at, work_ns)) in arrivals.iter().enumerate() {
        while let Some(step) = schedule.pop(*at) {
            steps.push(step);
        }
        schedule.start(*at, id as u64, work_ns.clone());
    }
    while let Some(due_ns) = schedule.next_due() {
        assert!(schedule.pop(due_ns - 1).is_none(), "a step came before it was due");
        steps.push(schedule.pop(due_ns).unwrap());
    }
    assert_eq!(schedule.active(), 0);
    steps
}

fn due_of(steps: &[Step], id: u64) -> Vec<u64> {
    steps.iter().filter(|step| step.id == id).map(|step| step.due_ns).collect()
}

#[test]
fn free_requests_do_not_feel_each_other() {
    let arrivals = [(100, vec![50, 10, 10]), (120, vec![50, 10, 10])];
    let steps = play(Mode::Free, &RATES, &arrivals);
    assert_eq!(due_of(&steps, 0), [150, 160, 170]);
    assert_eq!(due_of(&steps, 1), [170, 180, 190]);
}

#[test]
fn a_free_request_that_is_heard_of_late_is_due_as_if_it_had_been_heard_of_in_time() {
    let mut schedule = Schedule::new(Mode::Free, &RATES);
    schedule.start(500, 1, vec![10, 10]);
    assert_eq!(schedule.pop(1_000).unwrap().due_ns, 510);
    assert_eq!(schedule.pop(1_000).unwrap().due_ns, 520);
    // It was there before the other one, whose end is known by now.
    schedule.start(100, 2, vec![50, 600]);
    let due: Vec<u64> = std::iter::from_fn(|| schedule.pop(2_000)).map(|s| s.due_ns).collect();
    assert_eq!(due, [150, 750]);
}

#[test]
fn a_queue_serves_one_after_the_other() {
    let arrivals = [(100, vec![50, 10]), (110, vec![50, 10]), (120, vec![5])];
    let steps = play(Mode::Queue, &[1.0], &arrivals);
    assert_eq!(due_of(&steps, 0), [150, 160]);
    assert_eq!(due_of(&steps, 1), [210, 220]);
    assert_eq!(due_of(&steps, 2), [225]);
}

#[test]
fn the_pending_step_is_rescaled_when_a_request_starts_or_ends() {
    // Half speed for two: the first has 60 of 100 left at 40, and they take 120 while shared.
    let arrivals = [(0, vec![100, 100]), (40, vec![30])];
    let steps = play(Mode::SharedGpu, &[2.0, 1.0], &arrivals);
    // The second needs 30, shared until it ends at 100; then 30 are left of the first's step.
    assert_eq!(due_of(&steps, 1), [100]);
    assert_eq!(due_of(&steps, 0), [130, 230]);
}

#[test]
fn a_request_that_is_cancelled_gives_its_share_back() {
    let mut schedule = Schedule::new(Mode::SharedGpu, &[2.0, 1.0]);
    schedule.start(0, 0, vec![100]);
    schedule.start(0, 1, vec![100]);
    assert_eq!(schedule.next_due(), Some(200));
    schedule.cancel(100, 1);
    assert_eq!((schedule.active(), schedule.next_due()), (1, Some(150)));

    let mut queue = Schedule::new(Mode::Queue, &[1.0]);
    (0..3).for_each(|id| queue.start(0, id, vec![10]));
    queue.cancel(1, 1);
    queue.cancel(4, 0);
    assert_eq!(queue.pop(100), Some(Step { id: 2, due_ns: 14, index: 0, last: true }));
    assert_eq!(queue.pop(100), None);
}

#[test]
fn two_sequential_agents_beat_two_concurrent_ones() {
    let work_ns: Vec<u64> = std::iter::once(200_000_000).chain([9_259_259; 127]).collect();
    let end = |steps: Vec<Step>| steps.last().unwrap().due_ns;
    let alone = end(play(Mode::SharedGpu, &RATES, &[(0, work_ns.clone())]));
    let concurrent = end(play(Mode::SharedGpu, &RATES, &[(0, work_ns.clone()), (0, work_ns)]));
    let speedup = 2.0 * alone as f64 / concurrent as f64;
    assert!((speedup - 2.0 * 41.0 / 108.0).abs() < 1e-6, "{speedup}");
}

#[test]
fn jitter_keeps_the_mean_rate_and_the_seed_keeps_both() {
    let spec = spec(0.5, 1.0);
    let work_ns = text::work_ns(7, 20_001, &spec);
    assert_eq!(work_ns, text::work_ns(7, 20_001, &spec));
    assert_ne!(work_ns, text::work_ns(8, 20_001, &spec));
    let mean_ns = work_ns[1..].iter().sum::<u64>() as f64 / 20_000.0;
    // The mean's standard error is 0.38 % at this sigma and count.
    assert!((mean_ns / 1e7 - 1.0).abs() < 0.02, "{mean_ns}");
}

fn spec(itl_sigma_log: f64, time_scale: f64) -> ServerSpec {
    ServerSpec {
        mode: Mode::SharedGpu,
        model: "m".into(),
        ttft_ms: LogNormalMs { median: 50.0, sigma_log: 0.3 },
        rate_tokens_per_s: vec![100.0],
        itl_sigma_log,
        time_scale,
        default_seed: Some(0),
        thinking_tokens: 0,
        tool_call: false,
        tokens_per_chunk: 1,
        trace: Vec::new(),
        faults: vec![],
    }
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, Vec<u64>)>> {
    let work = prop::collection::vec(0_u64..1_000_000, 1..20);
    prop::collection::vec((0_u64..2_000_000, work), 1..12).prop_map(|mut arrivals| {
        arrivals.sort_by_key(|(at, _)| *at);
        arrivals
    })
}

proptest! {
    #[test]
    fn steps_are_conserved_ordered_and_never_faster_than_alone(
        arrivals in arrivals(),
        mode in prop::sample::select(vec![Mode::Free, Mode::SharedGpu, Mode::Queue]),
    ) {
        let steps = play(mode, &RATES, &arrivals);
        prop_assert!(steps.windows(2).all(|pair| pair[0].due_ns <= pair[1].due_ns));
        for (id, (at, work_ns)) in arrivals.iter().enumerate() {
            let mine: Vec<&Step> = steps.iter().filter(|step| step.id == id as u64).collect();
            prop_assert_eq!(mine.len(), work_ns.len());
            let mut alone_ns = *at;
            for (index, (step, work_ns)) in mine.iter().zip(work_ns).enumerate() {
                alone_ns += work_ns;
                prop_assert_eq!((step.index, step.last), (index, index + 1 == mine.len()));
                // Each change of speed may round by a nanosecond.
                prop_assert!(step.due_ns + 2 * steps.len() as u64 >= alone_ns);
            }
        }
    }

    #[test]
    fn the_time_scale_only_scales(seed in any::<i64>(), sigma in 0.0..0.8) {
        let real = text::work_ns(seed, 20, &spec(sigma, 1.0));
        let scaled = text::work_ns(seed, 20, &spec(sigma, 0.01));
        for (real, scaled) in real.iter().zip(scaled) {
            prop_assert!((*real as f64 * 0.01 - scaled as f64).abs() <= 1.0);
        }
    }
}
