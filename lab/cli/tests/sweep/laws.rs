//! Numbers that cannot be true: told by a variant, or written into a record afterwards.

use std::fs;

use crate::{
    ledgers, schedulers,
    unchained::unchain,
    workflows,
    world::{World, assert_not_timed, of},
};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Status, Verification};
use predicates::str::contains;
use proof_kit::Attack;

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
        assert_impossible(&results, name, said);
    }
}

/// Of one variant nothing was believed.
fn assert_impossible(results: &Results, name: &str, said: &str) {
    let _attack = Attack::on("answers", &format!("numbers of a variant that is {name}: {said}"));
    let runs = of(results, name);
    assert!(!runs.is_empty(), "{name}");
    for run in runs {
        let reason = run.reason.clone().unwrap_or_default();
        assert_eq!(run.status, Status::Failed, "{name}: {reason}");
        assert_eq!(run.verification, Verification::Unchecked, "{name}");
        assert!(reason.starts_with("impossible numbers: "), "{name}: {reason}");
        assert!(reason.contains(said), "{name}: {reason}");
    }
}

/// A script around the program that computes the answer, and what the lab says of it.
type Lie = (&'static str, &'static str, &'static str);

/// Some hundred milliseconds of a CPU, in a shell.
const BURN: &str = "i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done";

#[test]
fn work_beside_what_a_variant_tells_is_counted_by_the_kernel() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let sed = r#"s/"cpu_\(total\|startup\|streaming\)_ns":[0-9]*/"cpu_\1_ns":1/g"#;
    let none = r#"s/"cpu_total_ns":[0-9]*,*//; s/"cpu_streaming_ns":[0-9]*/"cpu_streaming_ns":1/"#;
    for (name, lie) in [("working", ""), ("idle", sed), ("silent", none)] {
        let script = format!("out=$(\"$FLOOR\" | sed '{lie}'); {BURN}; printf '%s\\n' \"$out\"");
        world.variant(name, &script);
    }
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(1);
    let results = Results::load(&world.path("r")).unwrap();
    assert!(of(&results, "steady").iter().all(|run| run.status == Status::Ok));
    for name in ["working", "idle", "silent"] {
        assert_impossible(&results, name, ", but the kernel counted ");
    }
}

/// Two repetitions with 2 ms of declared work each.
const LEDGERS: [Lie; 6] = [
    (
        "instant",
        r#"s/"elapsed_ns":\[[0-9]*,[0-9]*/"elapsed_ns":[1,1/"#,
        "elapsed_ns is 1 in row 0, for 2000000 ns of declared work",
    ),
    (
        "once_instant",
        r#"s/"elapsed_ns":\[\([0-9]*\),[0-9]*/"elapsed_ns":[\1,7/"#,
        "elapsed_ns is 7 in row 1, for 2000000 ns of declared work",
    ),
    (
        "hasty",
        r#"s/"elapsed_ns":\[\([0-9]*\)[0-9]\{3\},\([0-9]*\)[0-9]\{3\}/"elapsed_ns":[\1,\2/"#,
        "for 2000000 ns of declared work on",
    ),
    (
        "workless",
        r#"s/"cpu_ns":\[[0-9]*,[0-9]*/"cpu_ns":[1,1/"#,
        "cpu_ns is 1 in row 0, for 2000000 ns of declared work",
    ),
    (
        "lazy",
        r#"s/"cpu_ns":\[\([0-9]*\)[0-9]\{2\},\([0-9]*\)[0-9]\{2\}/"cpu_ns":[\1,\2/"#,
        "for 2000000 ns of declared work on 1 CPUs",
    ),
    ("negative", r#"s/"cpu_ns":\[/"cpu_ns":[-/"#, "in row 0, for 2000000 ns of declared work"),
];

#[test]
fn transactions_take_at_least_their_declared_work() {
    let world = World::new();
    world.ledger("floor", &["t"], "exec \"$FLOOR\"");
    for (name, lie, _) in LEDGERS {
        world.ledger(name, &["t"], &format!("\"$FLOOR\" | sed '{lie}'"));
    }
    let text = ledgers::EXPERIMENT.replace("work_ns = \"0\"", "work_ns = \"20000\"");
    let text = text.replace("repetitions_max = 3", "repetitions_max = 2");
    fs::write(world.path("experiments/e.toml"), text).unwrap();
    let results = world.run(1);
    for run in of(&results, "floor").iter().filter(|run| run.status == Status::Ok) {
        assert_eq!(run.counters["work_declared_ns"], 2_000_000);
    }
    assert!(of(&results, "floor").iter().all(|run| run.status != Status::Failed));
    for (name, _, said) in LEDGERS {
        assert_impossible(&results, name, said);
    }
}

#[test]
fn items_and_loads_take_at_least_their_declared_time() {
    let world = schedulers::world();
    let streams: [Lie; 3] = [
        ("instant", r#"s/"elapsed_ns":\[[0-9]*,[0-9]*/"elapsed_ns":[1,1/"#, "elapsed_ns is 1 in"),
        ("workless", r#"s/"cpu_ns":\[[0-9]*,[0-9]*/"cpu_ns":[1,1/"#, "cpu_ns is 1 in row 0"),
        ("hasty", r#"s/"elapsed_ns":\[[0-9]*/"elapsed_ns":[9999/"#, "elapsed_ns is 9999 in row 0"),
    ];
    for (name, lie, _) in streams {
        world.policy(name, &format!("\"$FLOOR\" | sed '{lie}'"));
    }
    world.policy("brief", r#""$FLOOR" | sed 's/"elapsed_ns":[0-9][0-9]*/"elapsed_ns":1/'"#);
    let text = fs::read_to_string(world.path("experiments/e.toml")).unwrap();
    let text = text.replace("w = [1_000, 20_000]", "w = [200_000]");
    fs::write(world.path("experiments/e.toml"), text).unwrap();
    let results = world.run(1);
    assert!(of(&results, "good").iter().all(|run| run.status == Status::Ok));
    for (name, _, said) in streams {
        let _attack = Attack::on("answers", &format!("a stream of a policy that is {name}"));
        let runs = of(&results, name);
        let run = runs.iter().find(|run| run.cell["test"] == "stream").unwrap();
        let reason = run.reason.as_deref().unwrap_or_default();
        assert!(reason.starts_with("impossible numbers: "), "{name}: {reason}");
        assert!(reason.contains(said) && reason.contains("of declared work"), "{name}: {reason}");
    }
    let _attack = Attack::on("answers", "a load that lasted 1 ns");
    let runs = of(&results, "brief");
    let run = runs.iter().find(|run| run.cell["test"] == "wake").unwrap();
    let reason = run.reason.as_deref().unwrap_or_default();
    assert_eq!(reason, "wrong answer: elapsed_ns is 1, but it was to last 100 ms");
}

#[test]
fn no_step_begins_before_what_it_takes_is_done() {
    let world = workflows::world();
    // The second step of the first task has all times of the first, up to its own end.
    let columns = ["created", "enqueued", "claimed", "started"]
        .map(|name| format!(r#"s/"step_{name}_ns":\[\([0-9]*\),[0-9]*/"step_{name}_ns":[\1,\1/"#));
    world.back_end("prophet", &format!("\"$FLOOR\" | sed '{}'", columns.join(";")));
    let results = world.run(1);
    assert_not_timed(&results, &[("prophet", "two of task ")]);
    let reason = of(&results, "prophet")[0].reason.clone().unwrap();
    assert!(reason.contains("began at") && reason.contains("but what it takes was"), "{reason}");
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
    let results = Results::load(&world.path("r")).unwrap();
    for reason in reasons {
        let _attack = Attack::on("answers", &format!("{}: {}", reason.0, reason.1));
        assert_not_timed(&results, &[reason]);
    }
}

#[test]
fn a_record_that_was_changed_by_hand_makes_no_report() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    // No chain tells it.
    unchain(&world.path("r"));
    world.lab(&["report", "r"]).assert().code(0).stderr(contains("unchained"));
    let file = world.path("r/runs.jsonl");
    let honest = fs::read_to_string(&file).unwrap();
    let line = honest.lines().last().unwrap();
    let mut run: serde_json::Value = serde_json::from_str(line).unwrap();
    run["counters"]["wall_ns"] = (run["counters"]["wall_ns"].as_u64().unwrap() / 2).into();
    let half = Attack::on("records", "a time that is half of what it was");
    fs::write(&file, honest.replace(line, &run.to_string())).unwrap();
    let refused = world.lab(&["report", "r", "--check"]).assert().code(4);
    refused.stderr(contains("cannot be true: wall_ns is"));
    drop(half);
    let _attack = Attack::on("records", "a run that stands twice");
    fs::write(&file, format!("{honest}{line}\n")).unwrap();
    world.lab(&["report", "r"]).assert().code(4).stderr(contains("is recorded twice"));
}
