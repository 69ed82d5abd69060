//! What the scheduler learns, with known answers: one thread and one seed give one sequence.

use adaptive::{Arm, Config, Context, Cost, Hint, Key, Reason, Scheduler};

const KEY: Key = Key::named("site");

fn scheduler() -> Scheduler {
    Scheduler::new(Config { seed: 7, ..Config::default() }).unwrap()
}

/// Makes calls that cost this much on each arm; answers the arms taken.
fn play(scheduler: &Scheduler, calls: usize, inline_ns: u64, offload_ns: u64) -> Vec<Arm> {
    (0..calls)
        .map(|_| {
            let decision = scheduler.choose(KEY, &Context::default());
            let arm = decision.arm();
            let total_ns = if arm == Arm::Inline { inline_ns } else { offload_ns };
            scheduler.finish(decision, Cost::total(total_ns));
            arm
        })
        .collect()
}

fn inline(arms: &[Arm]) -> usize {
    arms.iter().filter(|&&arm| arm == Arm::Inline).count()
}

#[test]
fn inline_240_us_against_offload_30_us_is_learned_within_a_few_calls() {
    for seed in 0..50 {
        let scheduler = Scheduler::new(Config { seed, ..Config::default() }).unwrap();
        let arms = play(&scheduler, 10_000, 240_000, 30_000);
        assert!(inline(&arms[..100]) <= 4, "seed {seed}: {:?}", inline(&arms[..100]));
        // 1 % of 30 us is a probe in 700 calls.
        assert!(inline(&arms) <= 20, "seed {seed}: {}", inline(&arms));
    }
}

#[test]
fn cheap_inline_work_stays_inline() {
    let scheduler = scheduler();
    let arms = play(&scheduler, 10_000, 5_000, 25_000);
    assert!(inline(&arms) >= 9_960, "{}", inline(&arms));
    assert_eq!(scheduler.counters().guardrails(), [0; 4]);
}

#[test]
fn a_rise_of_the_inline_cost_is_noticed_by_the_first_call() {
    let scheduler = scheduler();
    play(&scheduler, 500, 20_000, 30_000);
    let arms = play(&scheduler, 500, 500_000, 30_000);
    let first = arms.iter().position(|&arm| arm == Arm::Inline).unwrap();
    assert_eq!(inline(&arms[first + 1..first + 16]), 0);
    assert!(inline(&arms) <= 5, "{}", inline(&arms));
}

#[test]
fn a_rise_below_every_cap_is_noticed_by_the_second_call() {
    let scheduler = scheduler();
    play(&scheduler, 500, 10_000, 30_000);
    let arms = play(&scheduler, 500, 100_000, 30_000);
    // Two that show it, what the budget pays for, and what it may owe to see whether it is over.
    assert!(inline(&arms) <= 9, "{}", inline(&arms));
    assert_eq!(scheduler.counters().changes, 1);
}

#[test]
fn a_fall_of_the_inline_cost_is_found_by_probing() {
    for calls in (500..4000).step_by(100) {
        let scheduler = scheduler();
        play(&scheduler, calls, 200_000, 30_000);
        let arms = play(&scheduler, 3000, 10_000, 30_000);
        assert!(inline(&arms[1500..]) >= 1450, "{calls}: {}", inline(&arms[1500..]));
    }
}

#[test]
fn looks_inline_cost_a_hundredth_where_inline_stays_dear() {
    for dear_ns in [50_000, 100_000, 240_000, 900_000] {
        let scheduler = scheduler();
        let looks = inline(&play(&scheduler, 4000, dear_ns, 30_000)) as u64;
        // The last one may begin with a budget that it overdraws by a half.
        let (look, budget) = (dear_ns - 30_000, 4000 * 30_000 / 100);
        assert!(0 < looks && looks * look <= budget + look / 2, "{dear_ns}: {looks}");
    }
}

#[test]
fn a_fall_of_the_works_own_time_is_seen_from_the_pool() {
    let scheduler = scheduler();
    let play = |calls: usize, function_ns: u64| {
        let mut inline = 0;
        for _ in 0..calls {
            let decision = scheduler.choose(KEY, &Context::default());
            let offloaded = decision.arm() == Arm::Offload;
            inline += usize::from(!offloaded);
            let total_ns = function_ns + if offloaded { 20_000 } else { 0 };
            let cost = Cost { total_ns, function_ns: Some(function_ns), queued_ns: None };
            scheduler.finish(decision, cost);
        }
        inline
    };
    assert!(play(1000, 5_000_000) <= 1, "a length that the pool reports need not be tried");
    assert!(play(100, 10_000) >= 60);
}

#[test]
fn a_constant_cost_is_estimated_as_itself() {
    let scheduler = scheduler();
    play(&scheduler, 20_000, 200_000, 90_000);
    let estimate = scheduler.estimate(KEY);
    assert_eq!((estimate.inline_ns, estimate.offload_ns), (Some(200_000.0), Some(90_000.0)));
}

#[test]
fn sites_and_sizes_are_learned_apart() {
    let scheduler = scheduler();
    let mut inline = [0; 2];
    for call in 0..2000 {
        let class = call % 2;
        let decision = scheduler.choose(KEY.sized(class as u32), &Context::default());
        inline[class] += usize::from(decision.arm() == Arm::Inline);
        let total_ns = [[1_000, 180_000], [20_000, 40_000]][decision.arm() as usize][class];
        scheduler.finish(decision, Cost::total(total_ns));
    }
    assert!(inline[0] >= 980 && inline[1] <= 10, "{inline:?}");
    assert_eq!(scheduler.sites(), 2);
}

#[test]
fn hints_decide_the_first_call_only() {
    let first = |hint, context: &Context| {
        let scheduler = scheduler();
        let decision = scheduler.choose_with_hint(KEY, hint, context);
        assert_eq!(decision.reason(), Reason::Cold);
        decision.arm()
    };
    let idle = Context { tokio_workers: 4, ..Context::default() };
    let busy = Context { in_flight: 40, ..idle };
    assert_eq!(first(Hint::Low, &busy), Arm::Inline);
    assert_eq!(first(Hint::Medium, &idle), Arm::Inline);
    assert_eq!(first(Hint::Medium, &busy), Arm::Offload);
    assert_eq!(first(Hint::High, &idle), Arm::Offload);
    assert_eq!(first(Hint::Unknown, &idle), Arm::Offload);

    let scheduler = scheduler();
    let mut offloaded = 0;
    for _ in 0..200 {
        let decision = scheduler.choose_with_hint(KEY, Hint::Low, &idle);
        offloaded += usize::from(decision.arm() == Arm::Offload);
        let total_ns = if decision.arm() == Arm::Inline { 200_000 } else { 30_000 };
        scheduler.finish(decision, Cost::total(total_ns));
    }
    assert!(offloaded >= 190, "a hint that was wrong is forgotten: {offloaded}");
}

#[test]
fn those_who_wait_are_part_of_the_inline_cost() {
    let share = |waiting: u64| {
        let scheduler = scheduler();
        let context = Context {
            tokio_workers: 4,
            queue_delay_ns: 1_000 * waiting,
            poll_time_ns: 1_000,
            ..Context::default()
        };
        let mut inline = 0;
        for _ in 0..1000 {
            let decision = scheduler.choose(KEY, &context);
            inline += usize::from(decision.arm() == Arm::Inline);
            let total_ns = if decision.arm() == Arm::Inline { 30_000 } else { 45_000 };
            scheduler.finish(decision, Cost::total(total_ns));
        }
        inline
    };
    assert!(share(0) > 950 && share(8) < 50, "{} {}", share(0), share(8));
}

#[test]
fn one_seed_gives_one_sequence() {
    let arms = |seed| {
        let scheduler = Scheduler::new(Config { seed, ..Config::default() }).unwrap();
        play(&scheduler, 200, 33_000, 30_000)
    };
    assert_eq!(arms(1), arms(1));
    assert!((2..40).any(|seed| arms(seed) != arms(1)));
}
