//! Numbers that cannot be true: told by a variant, or written into a record afterwards.

use std::fs;

use crate::world::{World, assert_not_timed};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Status, Verification};
use predicates::str::contains;

/// A variant that changes its own outcome by this sed script, and what the lab says of it.
const LIES: [(&str, &str, &str); 9] = [
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
        "timeless",
        r#"s/"token_received_ns":\[[0-9]*/"token_received_ns":[-1/"#,
        "token_received_ns is -1 in row 0, but its process lived",
    ),
    (
        "unbegun",
        r#"s/"call_first_token_ns":\[[0-9]*/"call_first_token_ns":[-1/"#,
        "call_first_token_ns is -1 in row 0, but its process lived",
    ),
    // Its last token comes with the end of its call.
    (
        "sluggish",
        r#"s/\("call_end_ns":\[\([0-9]*\).*"call_last_token_ns":\[\)[0-9]*/\1\2/"#,
        "in row 0, but that token came at",
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
fn a_variant_that_tells_of_other_calls_answers_wrongly() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let owner = r#"s/"call_agent":\[0/"call_agent":[1/"#;
    world.variant("confused", &format!("\"$FLOOR\" | sed '{owner}'"));
    let stamp = r#"s/"token_sent_ns":\[[0-9]*/"token_sent_ns":[-1/"#;
    world.variant("unstamped", &format!("\"$FLOOR\" | sed '{stamp}'"));
    // Each agent asks the other one's server.
    let servers = r#"s/\("server":"\)\([^"]*\)\(.*"server":"\)\([^"]*\)/\1\4\3\2/"#;
    world.variant("astray", &format!("head -n 1 | sed '{servers}' | \"$FLOOR\""));
    world.experiment("paced", 1, "");
    let reasons = [
        ("confused", "wrong answer: agent 0, call 0: call_agent is 1"),
        ("unstamped", "wrong answer: agent 0, call 0: its first token_sent_ns is -1, the server's"),
        ("astray", "wrong answer: agent 0, call 0: asked server 1, not its own, 0"),
    ];
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(1);
    assert_not_timed(&Results::load(&world.path("r")).unwrap(), &reasons);
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
