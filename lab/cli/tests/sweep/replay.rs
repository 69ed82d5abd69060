//! Recorded replies, replayed to every runtime.

use std::fs;

use crate::world::{World, of};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Run, Samples, Status, sha256_hex};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;

/// Gaps in milliseconds, two calls for each of two agents.
const QUICK: [&[u64]; 4] = [&[9, 2, 1, 3], &[4, 1, 1], &[6, 2, 5, 1, 1], &[5, 2]];
const SLOW: [&[u64]; 4] = [&[20, 30, 29, 28], &[15, 30, 31], &[25, 29, 29, 30, 28], &[30, 29]];

fn trace(replies: [&[u64]; 4]) -> String {
    let step = |ms: &u64| {
        format!("{{\"gap_ns\":{ms}000000,\"tokens\":1,\"text_bytes\":2,\"text\":\"é\"}}")
    };
    let line = |gaps: &[u64]| {
        let steps: Vec<String> = gaps.iter().map(step).collect();
        format!("{{\"schema\":\"lab-sim-trace-1\",\"steps\":[{}]}}\n", steps.join(","))
    };
    replies.map(line).concat()
}

/// Two configurations, `c` and `d`, each with a trace.
fn replaying(world: &World) {
    world.experiment("paced", 3, "");
    let edit = |file: &str, change: &dyn Fn(String) -> String| {
        let path = world.path(file);
        fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    };
    edit("experiments/e.toml", &|text| {
        let cells = "config = [\"c\"]\narrangement = [\"concurrent\", \"solo\"]";
        assert!(text.contains(cells));
        text.replace(cells, "config = [\"c\", \"d\"]\narrangement = [\"concurrent\"]")
    });
    edit("experiments/t.toml", &|text| {
        let row = text.split_once("[config.c]").unwrap().1;
        format!("{text}trace = \"traces/c.jsonl\"\n[config.d]{row}trace = \"traces/d.jsonl\"\n")
    });
    fs::create_dir(world.path("experiments/traces")).unwrap();
    fs::write(world.path("experiments/traces/c.jsonl"), trace(QUICK)).unwrap();
    fs::write(world.path("experiments/traces/d.jsonl"), trace(SLOW)).unwrap();
}

/// When each token of a run was due, in nanoseconds after its call's request had come.
fn due_ns(samples: &Samples) -> Vec<Vec<i64>> {
    let column = |name| samples.raw(name).unwrap();
    let tokens = column("token_sent_ns").iter().zip(column("server_pacing_error_ns"));
    let mut tokens = tokens.map(|(sent, error)| sent - error);
    let calls = column("call_tokens").iter().zip(column("server_received_ns"));
    let due = |(&count, came): (&i64, &i64)| {
        tokens.by_ref().take(count as usize).map(|due| due - came).collect()
    };
    calls.map(due).collect()
}

fn after(gaps: &[u64]) -> Vec<i64> {
    let sum = |at: &mut u64, ms: &u64| {
        *at += ms * 1_000_000;
        Some(at.cast_signed())
    };
    gaps.iter().scan(0, sum).collect()
}

#[test]
fn every_run_of_a_configuration_gets_its_trace_and_the_page_says_whose_the_variance_is() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.variant("other", "exec \"$FLOOR\"");
    replaying(&world);
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    let results = Results::load(&world.path("r")).unwrap();
    let timed: Vec<&Run> = results.runs.iter().filter(|run| !run.warmup).collect();
    // 3 blocks, 2 configurations, and a twin beside the two.
    assert_eq!(timed.len(), 3 * 2 * 3);
    for run in timed {
        assert_eq!(run.status, Status::Ok, "{:?}", run.reason);
        let replies = if run.cell["config"] == "c" { QUICK } else { SLOW };
        let samples = results.samples(run).unwrap();
        assert_eq!(due_ns(&samples), replies.map(after), "{}", run.variant);
        // Nothing comes before it is due.
        let received = samples.raw("token_received_ns").unwrap();
        let sent = samples.raw("token_sent_ns").unwrap();
        assert!(received.iter().zip(sent).all(|(received, sent)| received >= sent));
    }
    let attached = &results.run_file.attachments;
    assert_eq!(attached["traces/c.jsonl"], sha256_hex(trace(QUICK).as_bytes()));
    // Gaps of 1 ms against gaps of 30: hardly anything is left to others.
    let page =
        fs::read_to_string(world.path("r/details/where-the-variance-comes-from.md")).unwrap();
    assert!(page.contains("| `inter_token_p50_ns` |"), "{page}");
    let screen = fs::read_to_string(world.path("r/report.md")).unwrap();
    assert!(screen.contains("Of the variance of the time between tokens, between runs, "));
    assert!(screen.contains("**Recorded replies**"), "{screen}");
    let table = fs::read_to_string(world.path("r/split.tsv")).unwrap();
    let row = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    let head = row(table.lines().next().unwrap());
    let line = table.lines().find(|line| line.starts_with("inter_token_p50_ns")).unwrap();
    let place = head.iter().position(|key| key == "trace").unwrap();
    assert!(row(line)[place].parse::<f64>().unwrap() > 0.5, "{table}");
    world.lab(&["report", "r", "--check"]).assert().code(0);
    // Another trace is another experiment.
    fs::write(world.path("experiments/traces/d.jsonl"), trace(QUICK)).unwrap();
    let resume = ["run", "--resume", "r", "--no-startup"];
    world.lab(&resume).assert().code(4).stderr(contains("a table it names has changed"));
    assert!(of(&results, "steady").len() > 6);
}

#[test]
fn a_trace_that_cannot_be_replayed_is_refused_before_anything_runs() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    replaying(&world);
    let file = world.path("experiments/traces/d.jsonl");
    let whole = trace(SLOW);
    let run = ["run", "experiments/e.toml", "--out", "r", "--no-startup"];
    for (text, said) in [
        (Some(""), "it holds no reply"),
        (Some(&whole[..whole.len() - 9]), "line 4 is torn"),
        (None, "No such file"),
    ] {
        let _attack = Attack::on("records", &format!("a trace of which is said: {said}"));
        match text {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let where_it_is = contains("t.toml").and(contains("config.d.trace"));
        let named = where_it_is.and(contains("traces/d.jsonl")).and(contains(said));
        world.lab(&run).assert().code(2).stderr(named);
    }
    assert!(!world.path("r").exists(), "nothing was started");
}
