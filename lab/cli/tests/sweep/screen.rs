//! What a person sees of a sweep: how far it is, and in the end the answer and the table.

use std::fs;

use crate::{ledgers::EXPERIMENT, world::World};
use assert_cmd::assert::OutputAssertExt;

#[test]
fn a_run_says_how_far_it_is_and_ends_with_answer_and_table() {
    let world = World::new();
    world.ledger("floor", &["t"], "exec \"$FLOOR\"");
    world.ledger("good", &["t"], "exec \"$FLOOR\"");
    let question = "[[analysis.comparisons]]\nmetric = \"elapsed_ns\"\nscale = \"ratio\"\n\
                    margin = 0.05\ncells = { workers = [\"1\"] }";
    let experiment = EXPERIMENT.replace("comparisons = []", question);
    fs::write(world.path("experiments/e.toml"), experiment).unwrap();
    let run = world.lab(&["run", "experiments/e.toml", "--out", "r"]).assert().code(0);
    let said = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    let way = said.lines().find(|line| line.contains(" cells, ETA ")).expect(&said);
    assert!(way.starts_with("0 %, 0 of ") && way.contains("noise not known: "), "{way}");
    // The table of the report's first screen is the end of what is said.
    let report = fs::read_to_string(world.path("r/report.md")).unwrap();
    let first = report.split("\n![").next().unwrap();
    let first = first.split("\nDetails: ").next().unwrap();
    let answer = "\n\nNo difference in elapsed time from `floor` was shown for `good`. Asked at \
                  workers 1.\n";
    assert!(first.contains(answer) && first.contains("\n| against `floor` | elapsed"), "{first}");
    assert!(said.ends_with(first), "{said}");
}
