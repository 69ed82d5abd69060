//! `lab plan` before and after a sweep: what its questions will be able to detect.

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};

use crate::world::World;

#[test]
fn a_plan_says_what_the_last_sweep_of_this_machine_promises() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.variant("other", "exec \"$FLOOR\"");
    world.experiment("paced", 6, "");
    let plan = || world.lab(&["plan", "experiments/e.toml"]).assert().success();
    plan().stdout(contains("no record of this machine").and(contains("--quick").not()));
    let file = world.path("experiments/e.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let quick = "\n[profile.quick]\nblocks = 1\nverdicts = false\n";
    std::fs::write(&file, format!("{text}{quick}")).unwrap();
    plan().stdout(contains("Run it once, or with --quick; then"));
    std::fs::write(&file, text).unwrap();
    let run = ["run", "experiments/e.toml", "--out", "results/one", "--no-startup"];
    world.lab(&run).assert().code(0);
    let asked = "| wall_ns concurrent | ±1.00 % | ±";
    plan().stdout(contains(asked).and(contains("results/one")));
    // Whoever reads the runs as lines gets nothing else.
    let lines = world.lab(&["plan", "experiments/e.toml", "--json"]).assert().success();
    lines.stdout(contains("detectable").not());
    // Another experiment has no record.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("name = \"e\"", "name = \"f\"")).unwrap();
    plan().stdout(contains("no record of this machine"));
}
