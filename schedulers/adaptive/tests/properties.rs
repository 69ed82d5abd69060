//! What holds for any sequence of costs.

use adaptive::{Arm, Config, Context, Cost, Counters, Hint, Key, Reason, Scheduler};
use proptest::prelude::*;

const KEY: Key = Key::named("site");

fn hint() -> impl Strategy<Value = Hint> {
    prop_oneof![Just(Hint::Low), Just(Hint::Medium), Just(Hint::High), Just(Hint::Unknown)]
}

fn context() -> impl Strategy<Value = Context> {
    (0..5_u32, 0..100_u32, 0..u64::MAX, 0..1_000_000_u64, 0..5_u32, 0..u32::MAX).prop_map(
        |(tokio_workers, in_flight, queue_delay_ns, poll_time_ns, rayon_threads, depth)| Context {
            tokio_workers,
            in_flight,
            queue_delay_ns,
            poll_time_ns,
            rayon_threads,
            rayon_queue_depth: depth,
            queued_tasks: in_flight / 2,
        },
    )
}

proptest! {
    #[test]
    fn estimates_stay_within_what_was_observed(
        seed: u64,
        hint in hint(),
        context in context(),
        costs in prop::collection::vec(0..10_000_000_000_u64, 1..200),
    ) {
        let scheduler = Scheduler::new(Config { seed, ..Config::default() }).unwrap();
        let mut ranges = [(u64::MAX, 0_u64); 2];
        for cost in costs {
            let decision = scheduler.choose_with_hint(KEY, hint, &context);
            let range = &mut ranges[decision.arm() as usize];
            *range = (range.0.min(cost.max(1)), range.1.max(cost.max(1)));
            scheduler.finish(decision, Cost::total(cost));
            let estimate = scheduler.estimate(KEY);
            let found = [estimate.inline_ns.unwrap(), estimate.offload_ns.unwrap()];
            for ((low, high), found) in ranges.into_iter().zip(found) {
                prop_assert!(found.is_finite());
                let seen = low <= high;
                prop_assert!(!seen || (low as f64 <= found && found <= high as f64));
            }
            prop_assert!((0.0..=1.0).contains(&estimate.offload_probability));
        }
    }

    #[test]
    fn any_cost_at_all_leaves_finite_estimates(
        costs in prop::collection::vec((any::<u64>(), any::<Option<u64>>()), 1..100),
    ) {
        let scheduler = Scheduler::default();
        for (total_ns, function_ns) in costs {
            let decision = scheduler.choose(KEY, &Context::default());
            scheduler.finish(decision, Cost { total_ns, function_ns, queued_ns: None });
            let estimate = scheduler.estimate(KEY);
            prop_assert!(estimate.inline_ns.unwrap().is_finite());
            prop_assert!(estimate.offload_ns.unwrap().is_finite());
            prop_assert!(estimate.offload_probability.is_finite());
        }
    }

    #[test]
    fn exploration_stays_within_its_budget(
        seed: u64,
        inline_ns in 1_000..240_000_u64,
        offload_ns in 1_000..240_000_u64,
        permille in 1..30_u32,
    ) {
        let config = Config { seed, exploration_permille: permille, ..Config::default() };
        let scheduler = Scheduler::new(config).unwrap();
        let (mut lost, mut total, mut worse) = (0, 0, 0);
        for _ in 0..5_000 {
            let decision = scheduler.choose(KEY, &Context::default());
            let cost = [inline_ns, offload_ns][decision.arm() as usize];
            let best = inline_ns.min(offload_ns);
            worse += u64::from(cost > best);
            lost += cost - best;
            total += cost;
            scheduler.finish(decision, Cost::total(cost));
        }
        // Two samples are free, a debt is possible, and what is earned is counted on a random
        // quarter of the calls, so that 5,000 of them give it to within a few per cent.
        let difference = inline_ns.abs_diff(offload_ns);
        let budget = total * u64::from(permille) * 12 / 10_000 + 4 * difference;
        prop_assert!(lost <= budget, "{lost} lost in {worse} calls, {budget} allowed");
    }

    #[test]
    fn every_decision_is_counted_once(
        seed: u64,
        costs in prop::collection::vec(0..2_000_000_u64, 1..300),
    ) {
        let config = Config { seed, sites: 2, ..Config::default() };
        let scheduler = Scheduler::new(config).unwrap();
        let mut expected = [0; 2];
        for (call, &cost) in costs.iter().enumerate() {
            let decision = scheduler.choose(Key::new(call as u64 % 5), &Context::default());
            expected[decision.arm() as usize] += 1;
            scheduler.finish(decision, Cost::total(cost));
        }
        let counters: Counters = scheduler.counters();
        prop_assert_eq!([counters.of_arm(Arm::Inline), counters.of_arm(Arm::Offload)], expected);
        let reasons = Reason::ALL.map(|reason| counters.of_reason(reason));
        prop_assert_eq!(reasons.iter().sum::<u64>(), costs.len() as u64);
        prop_assert_eq!(counters.finished, costs.len() as u64);
    }
}

#[test]
fn keys_without_a_place_share_one_and_are_counted() {
    let scheduler = Scheduler::new(Config { sites: 4, ..Config::default() }).unwrap();
    for id in 0..10 {
        let decision = scheduler.choose(Key::new(id), &Context::default());
        scheduler.finish(decision, Cost::total(1000));
    }
    assert_eq!((scheduler.sites(), scheduler.counters().overflow), (4, 6));
}

#[test]
fn settings_that_contradict_themselves_are_refused() {
    let refused = |config: Config| Scheduler::new(config).unwrap_err().to_string();
    let sites = refused(Config { sites: 0, ..Config::default() });
    assert_eq!(sites, "sites is 0: give between 1 and 1048576");
    let exploration = refused(Config { exploration_permille: 1001, ..Config::default() });
    assert_eq!(exploration, "exploration_permille is 1001: give at most 1000");
    let memory = refused(Config { memory: 1, ..Config::default() });
    assert_eq!(memory, "memory is 1: give at least 2");
}

#[test]
fn a_decision_of_another_scheduler_harms_nobody() {
    let large = Scheduler::default();
    let small = Scheduler::new(Config { sites: 1, ..Config::default() }).unwrap();
    for id in 0..100 {
        small.finish(large.choose(Key::new(id), &Context::default()), Cost::total(1));
    }
    assert!(small.counters().finished <= 100);
}
