//! Workflows: the lab knows what every step must give, and a back end that loses one, does one
//! twice or computes another value is a failed record.

use std::fs;

use crate::world::{World, assert_not_timed, of};
use lab_record::Status;

const EXPERIMENT: &str = r#"schema = 1
name = "e"
question = "Does the lab survive this?"
family = "workflows"
seed = 1
blocks = 1
[variants]
tags = ["t"]
[[cells]]
shape = ["pair", "fan"]
poll_ms = ["0", "1"]
[analysis]
reference = "good"
floor = "good"
pairing = "paired"
alpha = 0.05
comparisons = []
[workflows]
tasks = 3
warmup_tasks = 1
[workflows.defaults]
shape = "pair"
in_flight = "2"
poll_ms = "0"
workers = "2"
worker = "native"
[workflows.shape.pair]
steps = [
  { name = "one", operation = "square" },
  { name = "two", after = ["one"], operation = "square" },
]
[workflows.shape.fan]
steps = [
  { name = "count", operation = { constant = 3 } },
  { name = "part", operation = { sum_rows = 10 }, parts_of = "count" },
  { name = "all", after = ["part"], operation = "sum" },
]
"#;

pub fn world() -> World {
    let world = World::new();
    world.back_end("good", "exec \"$FLOOR\"");
    fs::write(world.path("experiments/e.toml"), EXPERIMENT).unwrap();
    world
}

#[test]
fn every_step_of_every_task_is_checked_and_kept() {
    let world = world();
    world.assert_good_and_reported(1 + 4);
}

#[test]
fn a_wrong_value_a_lost_step_and_a_second_one_are_failed_records() {
    let world = world();
    let first = |column: &str, value: &str| {
        format!(r#""$FLOOR" | sed 's/"{column}":\[[0-9]*/"{column}":[{value}/'"#)
    };
    world.back_end("liar", &first("step_value", "7"));
    world.back_end("repeater", &first("step", "1"));
    world.back_end("stranger", &first("step_task", "99"));
    world.back_end("prophet", &first("task_observed_ns", "1"));
    world.back_end("ghost", &first("step_claims", "0"));
    let results = world.run(1);
    assert_not_timed(
        &results,
        &[
            ("liar", "one (part 0) = 7, it must have one (part 0)"),
            ("repeater", "two (part 0)"),
            ("stranger", "it must have one (part 0)"),
            ("prophet", "task_observed_ns lies before task_completed_ns"),
            ("ghost", "was done and never claimed"),
        ],
    );
}

#[test]
fn every_run_has_an_empty_folder_beside_the_results_and_nothing_stays() {
    let world = world();
    let look = r#"read -r line; folder=$(echo "$line" | sed 's/.*"folder":"\([^"]*\)".*/\1/')
[ -z "$(ls -A "$folder")" ] || { echo "not empty" >&2; exit 1; }
case $folder in */results/*) ;; *) echo "elsewhere: $folder" >&2; exit 1;; esac
touch "$folder/left"
echo "$line" | "$FLOOR""#;
    world.back_end("looker", look);
    let results = world.run(0);
    assert!(of(&results, "looker").iter().all(|run| run.status == Status::Ok));
    let left: Vec<_> = fs::read_dir(world.path("results")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
