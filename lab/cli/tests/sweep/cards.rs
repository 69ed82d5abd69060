//! What cards do during runs, with an `nvidia-smi` that is made up.

use std::{env, fs, os::unix::fs::PermissionsExt};

use crate::world::{FaultyServer, World};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{CardUse, Results, Run, Spread};
use serde_json::json;

/// An idle card, and another one that works whenever it is asked again and again.
const WORKING: &str = r#"
card() { echo "$1, Made-up Card, $2, 2048, 1980, 312.55"; }
case "$*" in
*--loop-ms=*) echo $$ >"$0.pid"; while :; do card 0 0; card 1 37; sleep 0.005; done ;;
*) card 0 0; card 1 0 ;;
esac"#;

const BROKEN: &str = "echo 'NVIDIA-SMI has failed'; exit 9";

/// A sweep with this text as `nvidia-smi`, on servers of this kind.
fn sweep(nvidia_smi: &str, servers: &str) -> (World, Vec<Run>) {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment(servers, 2, "");
    let tools = world.path("tools");
    fs::create_dir(&tools).unwrap();
    let program = tools.join("nvidia-smi");
    fs::write(&program, format!("#!/bin/sh\n{nvidia_smi}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // A fault that is never reached: the server answers well.
    let server = FaultyServer::start(&json!({"kind": "not_found", "every": 1_000_000}));
    let mut command = vec!["run", "experiments/e.toml", "--out", "r", "--no-startup"];
    if servers == "given" {
        command.extend(["--servers", &server.urls]);
    }
    let path = format!("{}:{}", tools.display(), env::var("PATH").unwrap_or_default());
    world.lab(&command).env("PATH", path).assert().code(0);
    let runs = Results::load(&world.path("r")).unwrap().runs;
    (world, runs)
}

#[test]
fn cards_are_sampled_while_runs_go_on() {
    let (world, runs) = sweep(WORKING, "given");
    let sampled: Vec<&[CardUse]> = runs.iter().filter_map(|run| run.gpu.as_deref()).collect();
    assert!(!sampled.is_empty(), "{runs:?}");
    for cards in sampled {
        let last = cards.last().unwrap();
        let always = |value| Some(Spread { median: value, max: value });
        assert_eq!((last.card, last.utilisation_percent), (1, always(37)));
        assert_eq!((last.memory_used_bytes, last.power_mw), (always(2 << 30), always(312_550)));
        assert!(last.samples > 0 && last.name == "Made-up Card");
    }
    assert!(runs.iter().all(|run| run.gpu.is_some() != run.gpu_reason.is_some()));
    let pid = fs::read_to_string(world.path("tools/nvidia-smi.pid")).unwrap();
    assert!(!fs::exists(format!("/proc/{}", pid.trim())).unwrap(), "it outlives the sweep");
}

#[test]
fn a_card_that_cannot_be_asked_is_null_with_the_reason() {
    let (_world, runs) = sweep(BROKEN, "given");
    // The first run may be over before nvidia-smi is.
    assert!(runs.iter().all(|run| run.gpu.is_none() && run.gpu_reason.is_some()));
    let reason = runs.last().and_then(|run| run.gpu_reason.as_deref());
    assert_eq!(reason, Some("nvidia-smi says: NVIDIA-SMI has failed"));
}

#[test]
fn nobody_is_asked_where_no_work_can_reach_a_card() {
    let (world, runs) = sweep(WORKING, "paced");
    for run in &runs {
        let reason = run.gpu_reason.as_deref().unwrap_or_default();
        assert!(run.gpu.is_none() && reason.starts_with("not asked"), "{reason}");
    }
    assert!(!fs::exists(world.path("tools/nvidia-smi.pid")).unwrap());
}
