//! A site whose cost changes and changes back, with all costs given: how many calls it takes until
//! the scheduler follows, and what it pays to find out. Counted in calls, so that nothing depends
//! on the machine.

use adaptive::{Arm, Config, Context, Cost, Key, Scheduler};

const KEY: Key = Key::named("site");
const CHEAP_NS: u64 = 20_000;
const DEAR_NS: u64 = 500_000;
const OFFLOAD_NS: u64 = 60_000;

/// A change is followed once 18 of the next 20 calls run where they cost less.
const WINDOW: usize = 20;
const SETTLED: usize = 18;

/// What became of a sequence of calls.
struct Played {
    /// Whether a call ran on the arm that costs less.
    right: Vec<bool>,
    /// What looks at the dear arm lost, in nanoseconds.
    looks_ns: u64,
    /// What all calls cost.
    cost_ns: u64,
    /// What all calls would take inline: the work that is decided about.
    work_ns: u64,
}

/// Evenly up to a tenth more or less, from a counter, so that no generator is needed.
fn jitter(ns: u64, seed: u64, call: u64) -> u64 {
    let mixed = (seed << 32 | call).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let part = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 54;
    ns * 9 / 10 + ns * part / 5 / 1024
}

/// Inline is cheap for so many calls, then dear for as many, and again. `told` says whether the
/// pool reports how long the work took.
fn play(seed: u64, length: usize, changes: usize, told: bool) -> Played {
    let scheduler = Scheduler::new(Config { seed, ..Config::default() }).unwrap();
    let mut played = Played { right: Vec::new(), looks_ns: 0, cost_ns: 0, work_ns: 0 };
    // Whether it runs inline for all that the scheduler knows: then a dear call is no look.
    let mut at_home = true;
    for call in 0..length * (changes + 1) {
        let dear = call / length % 2 == 1;
        let inline_ns = jitter(if dear { DEAR_NS } else { CHEAP_NS }, seed, call as u64);
        let offload_ns = jitter(OFFLOAD_NS, seed + 1, call as u64);
        let decision = scheduler.choose(KEY, &Context::default());
        let inline = decision.arm() == Arm::Inline;
        let total_ns = if inline { inline_ns } else { offload_ns };
        let function_ns = (inline || told).then_some(inline_ns);
        scheduler.finish(decision, Cost { total_ns, function_ns, queued_ns: None });
        if inline && dear && !at_home {
            played.looks_ns += inline_ns - offload_ns;
        }
        at_home = if dear { at_home && !inline } else { at_home || inline };
        played.right.push(inline != dear);
        played.cost_ns += total_ns;
        played.work_ns += inline_ns;
    }
    played
}

impl Played {
    /// For each change, calls until it was followed; `None` where the next one came first.
    fn followed(&self, length: usize) -> Vec<Option<usize>> {
        let settled = |calls: &[bool]| calls.iter().filter(|right| **right).count() >= SETTLED;
        let stretches = self.right.chunks(length).skip(1);
        stretches.map(|calls| calls.windows(WINDOW).position(settled)).collect()
    }
}

fn median(mut steps: Vec<usize>) -> usize {
    steps.sort_unstable();
    steps[steps.len() / 2]
}

/// Changes of one direction over several seeds: all, and the calls until those that were followed.
fn one_way(all: &[Vec<Option<usize>>], first: usize) -> (usize, Vec<usize>) {
    let changes = all.iter().flat_map(|changes| changes.iter().skip(first).step_by(2));
    let changes: Vec<_> = changes.copied().collect();
    (changes.len(), changes.into_iter().flatten().collect())
}

#[test]
fn changes_are_followed_both_ways_where_only_totals_are_told() {
    let played: Vec<Played> = (0..20).map(|seed| play(seed, 500, 7, false)).collect();
    let followed: Vec<_> = played.iter().map(|played| played.followed(500)).collect();
    for (way, first) in [("to the pool", 0), ("back inline", 1)] {
        let (changes, steps) = one_way(&followed, first);
        assert!(steps.len() * 10 >= changes * 9, "{way}: {} of {changes}", steps.len());
        assert!(median(steps.clone()) <= 20, "{way}: {steps:?}");
    }
    // The first stretch is found over in debt; from then on the budget is earned back.
    for Played { looks_ns, cost_ns, work_ns, .. } in &played {
        assert!(looks_ns * 100 <= *work_ns, "{looks_ns} of {work_ns}");
        assert!(looks_ns * 1000 <= cost_ns * 15, "{looks_ns} of {cost_ns}");
    }
}

#[test]
fn looks_stay_within_a_hundredth_of_all_cost_in_the_long_run() {
    for seed in 0..5 {
        let Played { looks_ns, cost_ns, .. } = play(seed, 500, 39, false);
        assert!(looks_ns * 100 <= cost_ns, "{looks_ns} of {cost_ns}");
    }
}

#[test]
fn the_end_of_stretches_of_any_length_is_found_in_time() {
    for length in [200, 300, 700, 1000] {
        let all: Vec<_> =
            (0..5).map(|seed| play(seed, length, 59, false).followed(length)).collect();
        let late: Vec<_> = all.iter().map(|changes| changes[40..].to_vec()).collect();
        let (changes, steps) = one_way(&late, 1);
        assert!(steps.len() * 10 >= changes * 9, "{length}: {} of {changes}", steps.len());
        assert!(median(steps.clone()) <= 20, "{length}: {steps:?}");
    }
}

#[test]
fn changes_are_followed_without_a_look_where_the_pool_tells_the_work() {
    for length in [100, 500, 730] {
        let played: Vec<Played> = (0..10).map(|seed| play(seed, length, 11, true)).collect();
        let followed: Vec<_> = played.iter().map(|played| played.followed(length)).collect();
        for first in [0, 1] {
            let (changes, steps) = one_way(&followed, first);
            assert_eq!(steps.len(), changes, "{length}: {followed:?}");
            assert!(median(steps.clone()) <= 20, "{length}: {steps:?}");
        }
        for Played { looks_ns, cost_ns, .. } in &played {
            assert!(looks_ns * 100 <= *cost_ns, "{looks_ns} of {cost_ns}");
        }
    }
}
