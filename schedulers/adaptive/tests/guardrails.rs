//! Each guardrail in its own situation: its counter moves, and no other.

use std::thread;

use adaptive::{Arm, Config, Context, Cost, Hint, Key, Reason, Scheduler};

const KEY: Key = Key::named("site");
const QUIET: Context = Context {
    tokio_workers: 4,
    in_flight: 0,
    queue_delay_ns: 0,
    poll_time_ns: 0,
    rayon_threads: 4,
    rayon_queue_depth: 0,
    queued_tasks: 0,
};

/// A scheduler that knows this inline cost, and that the pool is slow, so that no draw offloads.
fn knowing(inline_ns: u64) -> Scheduler {
    // No probe is to come between.
    knowing_with(inline_ns, Config { exploration_permille: 0, ..Config::default() })
}

fn knowing_with(inline_ns: u64, config: Config) -> Scheduler {
    let scheduler = Scheduler::new(config).unwrap();
    scheduler.set_round_trip_ns(1_000_000_000);
    for _ in 0..40 {
        let decision = scheduler.choose_with_hint(KEY, Hint::Low, &QUIET);
        match decision.arm() {
            Arm::Inline => scheduler.finish(decision, Cost::total(inline_ns)),
            Arm::Offload => scheduler.finish(decision, Cost::total(900_000_000)),
        }
    }
    scheduler
}

/// Activations of GR0-GR3 in 100 decisions that are not finished.
fn activations(scheduler: &Scheduler, context: &Context) -> [u64; 4] {
    let before = scheduler.counters().guardrails();
    for _ in 0..100 {
        let _ = scheduler.choose(KEY, context);
    }
    let after = scheduler.counters().guardrails();
    std::array::from_fn(|index| after[index] - before[index])
}

#[test]
fn no_guardrail_fires_on_short_work_in_peace() {
    assert_eq!(activations(&knowing(40_000), &QUIET), [0; 4]);
}

#[test]
fn gr0_keeps_a_single_worker_free() {
    let single = Context { tokio_workers: 1, ..QUIET };
    assert_eq!(activations(&knowing(60_000), &single), [100, 0, 0, 0]);
    assert_eq!(activations(&knowing(40_000), &single), [0; 4]);
    assert_eq!(activations(&knowing(60_000), &QUIET), [0; 4]);
}

#[test]
fn gr1_caps_inline_time() {
    assert_eq!(activations(&knowing(300_000), &QUIET), [0, 100, 0, 0]);
    assert_eq!(activations(&knowing(200_000), &QUIET), [0; 4]);
}

#[test]
fn gr2_yields_to_those_who_wait() {
    let three_wait = Context { queue_delay_ns: 3_000, poll_time_ns: 1_000, ..QUIET };
    assert_eq!(activations(&knowing(120_000), &three_wait), [0, 0, 100, 0]);
    assert_eq!(activations(&knowing(90_000), &three_wait), [0; 4]);
    let two_wait = Context { queue_delay_ns: 2_000, ..three_wait };
    assert_eq!(activations(&knowing(120_000), &two_wait), [0; 4]);
    let pool_full = Context { rayon_queue_depth: 32, ..three_wait };
    assert_eq!(activations(&knowing(120_000), &pool_full), [0, 0, 100, 0]);
    let others_queued = Context { queued_tasks: 12, ..QUIET };
    assert_eq!(activations(&knowing(120_000), &others_queued), [0, 0, 100, 0]);
}

#[test]
fn gr3_strikes_and_forgives() {
    let scheduler = knowing(20_000);
    let long = scheduler.choose(KEY, &QUIET);
    assert_eq!(long.arm(), Arm::Inline);
    scheduler.finish(long, Cost::total(2_000_000));
    assert!(scheduler.estimate(KEY).struck);
    assert_eq!(activations(&scheduler, &QUIET), [0, 0, 0, 100]);

    let mut until_forgiven = 0;
    while scheduler.estimate(KEY).struck && until_forgiven < 1000 {
        let decision = scheduler.choose(KEY, &QUIET);
        let inline = decision.arm() == Arm::Inline;
        assert_eq!(inline, decision.reason() == Reason::Probe);
        scheduler.finish(decision, Cost::total(if inline { 20_000 } else { 900_000_000 }));
        until_forgiven += 1;
    }
    assert_eq!(until_forgiven, 17, "sixteen offloaded, and one that shows that it is short again");
    assert_eq!(scheduler.choose(KEY, &QUIET).arm(), Arm::Inline);
    assert_eq!(scheduler.counters().strikes, 1);
}

/// The calls that ran inline, of a site whose calls take 10 us inline until they take 5 ms.
fn inline_at(short: usize, calls: usize) -> Vec<usize> {
    let scheduler = Scheduler::default();
    let mut inline_at = Vec::new();
    for call in 0..calls {
        let decision = scheduler.choose_with_hint(KEY, Hint::Low, &QUIET);
        let inline = decision.arm() == Arm::Inline;
        if inline {
            inline_at.push(call);
        }
        let inline_ns = if call < short { 10_000 } else { 5_000_000 };
        scheduler.finish(decision, Cost::total(if inline { inline_ns } else { 30_000 }));
    }
    inline_at
}

#[test]
fn a_site_that_ran_inline_is_tried_later_and_later_until_it_owes_too_much() {
    let inline_at = inline_at(200, 4000);
    let struck = inline_at.iter().filter(|&&call| call >= 200);
    let after: Vec<usize> = struck.map(|call| call - 200).collect();
    assert_eq!(after[1..], [17, 50, 115, 244, 501], "the first is at {}", after[0]);
}

#[test]
fn a_site_that_was_never_short_is_tried_within_the_budget() {
    // 1 % of 30 us earns 5 ms in 16,567 calls.
    assert_eq!(inline_at(0, 16_000), [0]);
    assert!((2..=4).contains(&inline_at(0, 50_000).len()));
}

#[test]
fn a_very_long_call_does_not_come_twice_in_a_row_on_any_thread() {
    for seed in 0..20 {
        let scheduler = Scheduler::new(Config { seed, ..Config::default() }).unwrap();
        for _ in 0..100 {
            let decision = scheduler.choose_with_hint(KEY, Hint::Low, &QUIET);
            let inline = decision.arm() == Arm::Inline;
            scheduler.finish(decision, Cost::total(if inline { 10_000 } else { 60_000 }));
        }
        let long = scheduler.choose(KEY, &QUIET);
        if long.arm() == Arm::Offload {
            continue;
        }
        scheduler.finish(long, Cost::total(50_000_000));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        assert_eq!(scheduler.choose(KEY, &QUIET).arm(), Arm::Offload);
                    }
                });
            }
        });
    }
}

#[test]
fn gr1_still_tries_now_and_then() {
    let scheduler = knowing_with(300_000, Config::default());
    let mut inline = 0;
    for _ in 0..1000 {
        let decision = scheduler.choose(KEY, &QUIET);
        let ran_inline = decision.arm() == Arm::Inline;
        inline += usize::from(ran_inline);
        scheduler.finish(decision, Cost::total(if ran_inline { 20_000 } else { 400_000 }));
    }
    assert!(inline > 800, "work that became short is found: {inline}");
}
