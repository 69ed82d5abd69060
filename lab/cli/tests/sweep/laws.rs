//! Numbers that cannot be true: told by a variant, or written into a record afterwards.

use std::fs;

use crate::world::World;
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Status, Verification};
use predicates::str::contains;

/// A variant that changes its own outcome by this sed script, and what the lab says of it.
const LIES: [(&str, &str, &str); 6] = [
    ("instant", r#"s/"wall_ns":[0-9]*/"wall_ns":1/"#, "wall_ns is 1, its agents took"),
    ("endless", r#"s/"wall_ns":[0-9]*/"wall_ns":9000000000000/"#, "but its process lived"),
    ("free", r#"s/"cpu_total_ns":[0-9]*/"cpu_total_ns":1/"#, "less than its parts"),
    (
        "burning",
        r#"s/"cpu_total_ns":[0-9]*/"cpu_total_ns":900000000000/"#,
        "but the kernel counted",
    ),
    (
        "foreseeing",
        r#"s/"token_received_ns":\[[0-9]*/"token_received_ns":[1/"#,
        "token_received_ns is 1 in row 0, but its process lived",
    ),
    (
        "boasting",
        r#"s/"call_eval_ns":\[[0-9]*/"call_eval_ns":[9223372036854775807/"#,
        "call_eval_ns is 9223372036854775807 in row 0: impossible",
    ),
];

#[test]
fn a_variant_whose_numbers_cannot_be_true_has_failed() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    for (name, lie, _) in LIES {
        world.variant(name, &format!("\"$FLOOR\" | sed '{lie}'"));
    }
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(1);
    let results = Results::load(&world.path("r")).unwrap();
    for (name, _, said) in LIES {
        let runs: Vec<_> = results.runs.iter().filter(|run| run.variant == name).collect();
        assert!(!runs.is_empty(), "{name}");
        for run in runs {
            let reason = run.reason.clone().unwrap_or_default();
            assert_eq!(run.status, Status::Failed, "{name}: {reason}");
            assert_eq!(run.verification, Verification::Unchecked, "{name}");
            assert!(reason.starts_with("impossible numbers: "), "{name}: {reason}");
            assert!(reason.contains(said), "{name}: {reason}");
        }
    }
}

#[test]
fn a_record_that_was_changed_by_hand_makes_no_report() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    world.lab(&["report", "r", "--check"]).assert().code(0);
    let file = world.path("r/runs.jsonl");
    let honest = fs::read_to_string(&file).unwrap();
    let line = honest.lines().last().unwrap();
    let mut run: serde_json::Value = serde_json::from_str(line).unwrap();
    run["counters"]["wall_ns"] = (run["counters"]["wall_ns"].as_u64().unwrap() / 2).into();
    fs::write(&file, honest.replace(line, &run.to_string())).unwrap();
    let refused = world.lab(&["report", "r", "--check"]).assert().code(4);
    refused.stderr(contains("cannot be true: wall_ns is"));
    fs::write(&file, format!("{honest}{line}\n")).unwrap();
    world.lab(&["report", "r"]).assert().code(4).stderr(contains("is recorded twice"));
}
