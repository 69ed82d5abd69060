//! What the records say of noise: whose CPU time is whose, and which runs the gate could judge.

use std::{fs, path::Path};

use crate::{ledgers::EXPERIMENT, world::World};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Run, Window};
use proof_kit::Attack;
use serde_json::Value;

/// A shell that works until the kernel has counted 20 ticks of 10 ms for it.
const BURN: &str = r"read -r l </proc/$$/stat; set -- $l; [ $((${14}+${15})) -ge 20 ] && break";
const BURNT_NS: u64 = 200_000_000;
/// The floor's answer without a CPU time, which would be less than the run's.
const ANSWER: &str = r#""$FLOOR" | sed 's/"cpu_total_ns":[0-9]*,//'"#;

fn recorded(script: &str) -> (Results, Vec<Window>) {
    let world = World::new();
    world.ledger("floor", &["t"], "exec \"$FLOOR\"");
    let script = script.replace("BURN", &format!("while :; do {BURN}; done"));
    let script = script.replace("DONE", &world.path("done").display().to_string());
    world.ledger("busy", &["t"], &script);
    let experiment = EXPERIMENT.replace(
        "contention = [\"disjoint\", \"hot\"]\nworkers = [\"1\", \"2\"]",
        "contention = [\"hot\"]",
    );
    assert_ne!(experiment, EXPERIMENT, "the test changes nothing");
    fs::write(world.path("experiments/e.toml"), experiment).unwrap();
    let run = ["run", "--wait-idle=1", "experiments/e.toml", "--out", "r"];
    world.lab(&run).assert().code(0);
    let windows = fs::read_to_string(world.path("r/windows.jsonl")).unwrap();
    let windows = windows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (Results::load(&world.path("r")).unwrap(), windows)
}

fn assert_own(runs: &[Run], least_ns: u64) {
    let busy: Vec<&Run> = runs.iter().filter(|run| run.variant == "busy").collect();
    assert_eq!(busy.len(), 3);
    for run in busy {
        let noise = &run.noise;
        let (own, outside) = (noise.own_cpu_ns.unwrap(), noise.outside_cpu_ns.unwrap());
        assert!(own >= least_ns, "{own} of {least_ns}");
        assert!(own + outside <= noise.capacity_ns.unwrap() + noise.resolution_ns.unwrap());
    }
}

#[test]
fn a_child_of_the_variant_is_no_other_process() {
    let (results, _) = recorded(&format!("sh -c 'BURN'; {ANSWER}"));
    assert_own(&results.runs, BURNT_NS);
}

#[test]
fn a_process_that_the_variant_leaves_behind_is_no_other_process() {
    if !Path::new("/proc/thread-self/children").exists() {
        return; // The kernel does not say who is whose child.
    }
    // The inner shell starts it and ends, so that nobody is left to wait for it.
    for clear in ["", "env -i "] {
        let _attack = Attack::on("variants", &format!("work of a process left behind: {clear}"));
        let script = format!(
            "({clear}sh -c 'BURN; : >DONE' </dev/null >/dev/null 2>&1 &)
            while [ ! -e DONE ]; do sleep 0.01; done
            rm DONE; {ANSWER}"
        );
        let runs = recorded(&script).0.runs;
        assert_own(&runs, BURNT_NS);
        // It is the run's own, and the row says so.
        for run in runs.iter().filter(|run| run.variant == "busy") {
            assert!(run.counters["left_processes"] >= 1, "{:?}", run.counters);
            let counted = run.counters["left_cpu_ns"];
            assert!(counted >= BURNT_NS - 20_000_000, "{counted}");
            assert!(run.cpu_ns.unwrap() >= counted);
        }
    }
}

#[test]
fn work_of_a_process_left_behind_is_not_hidden_from_the_laws() {
    let _attack = Attack::on("variants", "a CPU time without that of a daemon");
    let world = World::new();
    world.ledger("floor", &["t"], "exec \"$FLOOR\"");
    let done = world.path("done").display().to_string();
    // Much more than may be left out of a CPU time.
    let burn = BURN.replace("-ge 20", "-ge 60");
    let script = format!(
        "(env -i sh -c 'while :; do {burn}; done; : >{done}' </dev/null >/dev/null 2>&1 &)
        while [ ! -e {done} ]; do sleep 0.01; done
        rm {done}; exec \"$FLOOR\""
    );
    world.ledger("sly", &["t"], &script);
    fs::write(world.path("experiments/e.toml"), EXPERIMENT).unwrap();
    let results = world.run(1);
    let sly: Vec<&Run> = results.runs.iter().filter(|run| run.variant == "sly").collect();
    let reason = sly[0].reason.as_deref().unwrap_or_default();
    assert!(reason.starts_with("impossible numbers: cpu_total_ns is "), "{reason}");
    assert!(reason.contains(", but the kernel counted "), "{reason}");
}

#[test]
fn every_run_lies_in_one_window_and_has_its_verdict() {
    let (results, windows) = recorded("exec \"$FLOOR\"");
    for run in &results.runs {
        let within = |one: &&Window| (one.first_order..=one.last_order).contains(&run.order);
        let around: Vec<&Window> = windows.iter().filter(within).collect();
        let [window] = around[..] else { panic!("{} windows of run {}", around.len(), run.order) };
        let capacity = run.noise.capacity_ns.unwrap();
        assert!(run.noise.steal_ns.unwrap() <= capacity);
        assert!(run.noise.outside_cpu_ns.unwrap() <= capacity);
        // Much noise shows even in a run of some milliseconds; all else only in a window.
        let alone = run.gated.iter().any(|cause| cause.ends_with("in the run"));
        let verdicts = (&run.gated, &run.noise.ungated);
        assert!(alone || verdicts == (&window.gated, &window.noise.ungated), "{verdicts:?}");
    }
}

#[test]
fn every_session_has_the_load_at_the_start() {
    let sessions = recorded("exec \"$FLOOR\"").0.sessions;
    let loads: Vec<&Value> =
        sessions.iter().map(|one| &one.environment["load_1min_at_start"]).collect();
    assert_eq!(loads.len(), 2);
    assert!(loads[0].is_f64() && loads[0] == loads[1], "{loads:?}");
}
