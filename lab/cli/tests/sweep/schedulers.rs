//! Scheduling policies: the lab drew the costs, and a policy that tells others, or loses an item,
//! is a failed record.

use std::fs;

use crate::world::{World, assert_not_timed, of};
use assert_cmd::assert::OutputAssertExt;
use lab_record::Status;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;

const EXPERIMENT: &str = r#"schema = 1
name = "e"
question = "Does the lab survive this?"
family = "schedulers"
seed = 1
blocks = 1
[variants]
tags = ["t"]
[[cells]]
test = ["decide"]
part = ["cycle", "cold"]
deciders = ["2"]
[[cells]]
test = ["stream", "wake"]
[[cells]]
test = ["replay"]
costs = ["shift", "recorded"]
[analysis]
reference = "good"
floor = "good"
pairing = "paired"
alpha = 0.05
comparisons = []
[schedulers]
recorded = "times.tsv"
replay_steps = 50
[schedulers.defaults]
test = "replay"
part = "choose"
deciders = "1"
costs = "steady_small"
work = "w"
concurrency = "2"
order = "unordered"
load = "l"
tokio_workers = "1"
rayon_threads = "1"
[schedulers.decide]
calls = 100
cold_calls = 10
batches = 2
warmup_batches = 1
keys = 2
[schedulers.stream]
work_ms = 1
items_max = 20
warmup_repetitions = 1
repetitions = 2
[schedulers.wake]
duration_ms = 100
tick_us = 1000
[schedulers.work_ns]
w = [1_000, 20_000]
[schedulers.load]
l = { open = { work_ns = 10_000, every_us = 5_000 } }
"#;

pub fn world() -> World {
    let world = World::new();
    world.policy("good", "exec \"$FLOOR\"");
    fs::write(world.path("experiments/e.toml"), EXPERIMENT).unwrap();
    let times = "site\tinline_ns\toffload_ns\n0\t5000\t9000\n1\t50000\t9500\n";
    fs::write(world.path("experiments/times.tsv"), times).unwrap();
    world
}

#[test]
fn every_test_of_a_policy_is_checked_and_kept() {
    let world = world();
    world.assert_good_and_reported(1 + 6);
}

#[test]
fn costs_that_the_lab_did_not_draw_are_a_failed_record() {
    let world = world();
    world.policy("liar", r#""$FLOOR" | sed 's/"cost_ns":\[[0-9]*/"cost_ns":[7/'"#);
    world.policy("boaster", r#""$FLOOR" | sed 's/"regret_ns":\[[0-9]*/"regret_ns":[-7/'"#);
    world.policy("third", r#""$FLOOR" | sed 's/"arm":\[[0-9]*/"arm":[2/'"#);
    let results = world.run(1);
    assert_not_timed(
        &results,
        &[
            ("liar", "cost_ns of step 0 is 7, it was"),
            ("boaster", "regret_ns of step 0 is -7, it was"),
            ("third", "arm of row 0 is 2, neither 0 nor 1"),
        ],
    );
}

#[test]
fn an_item_lost_a_batch_cut_and_a_tick_left_out_are_failed_records() {
    let world = world();
    world.policy("loser", r#""$FLOOR" | sed 's/"answer":\[[-0-9]*/"answer":[7/'"#);
    world.policy("cutter", r#""$FLOOR" | sed 's/"calls":\[[0-9]*/"calls":[7/'"#);
    world.policy(
        "sleeper",
        r#""$FLOOR" | sed 's/"tick_latency_ns":\[[0-9]*,/"tick_latency_ns":[/'"#,
    );
    let less = r#""$FLOOR" | sed 's/"inline_items":\[[0-9]*/"inline_items":[-5/'"#;
    world.policy("debtor", less);
    world.policy("painter", r#""$FLOOR" | sed 's/"item_arm":\[[0-9]*/"item_arm":[2/'"#);
    let hot = r#""$FLOOR" | sed 's/"cpu_ns":\[[0-9]*/"cpu_ns":[99000000000/'"#;
    world.policy("hot", hot);
    let results = world.run(1);
    for (variant, test, reason) in [
        ("loser", "stream", "answer of repetition 0 is 7"),
        ("debtor", "stream", "repetition 0 counts -5 and "),
        ("painter", "stream", "item_arm of row 0 is 2, neither 0 nor 1"),
        ("hot", "stream", "impossible numbers: cpu_ns is 99"),
        ("cutter", "decide", "batch 0 has 7 calls"),
        ("sleeper", "wake", "column tick_latency_ns has 99 rows, not 100"),
    ] {
        let _attack = Attack::on("answers", &format!("of a {variant} among policies: {reason}"));
        for run in of(&results, variant) {
            let failed = run.cell["test"] == test;
            assert_eq!(run.status == Status::Failed, failed, "{variant}: {:?}", run.reason);
            let told = run.reason.as_deref().unwrap_or_default();
            assert!(!failed || told.contains(reason), "{told}");
        }
    }
}

#[test]
fn recorded_times_that_cannot_be_read_are_named() {
    let world = world();
    fs::write(world.path("experiments/times.tsv"), "site\tinline_ns\toffload_ns\nx\n").unwrap();
    let run = world.lab(&["run", "experiments/e.toml", "--out", "r"]).assert();
    run.code(2).stderr(contains("times.tsv").and(contains("line 2")));
}
