//! What the experiments on disturbed, cancelled and crowded clients ask of agents.

use std::collections::BTreeSet;
use std::path::Path;

use lab_families::runtimes::Runtimes;
use lab_family::Places;
use lab_plan::{Plan, PlannedRun};
use lab_protocol::runtimes::Workload;

const NEIGHBOUR: &str = include_str!("../../../../experiments/neighbour.toml");
const CANCEL: &str = include_str!("../../../../experiments/cancel.toml");
const ARRIVALS: &str = include_str!("../../../../experiments/arrivals.toml");
const HOLD: &str = include_str!("../../../../experiments/hold.toml");
const TABLE: &str = include_str!("../../../../experiments/tables/chaos.toml");

fn planned(text: &str) -> Result<Plan, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let plan = proof_kit::world::planned((&Runtimes, &root), text, None, Some(TABLE));
    plan.map_err(|error| error.to_string())
}

fn workload(run: &PlannedRun) -> Workload {
    serde_json::from_value(run.work.workload(&Places::default())).expect("a workload")
}

#[test]
fn a_neighbour_is_beside_the_runs_of_its_cell() {
    let plan = planned(NEIGHBOUR).unwrap();
    let shares: BTreeSet<_> = plan
        .runs
        .iter()
        .map(|run| (run.cell["neighbour"].clone(), run.work.neighbour_percent()))
        .collect();
    let expected = [("full", 100), ("half", 50), ("none", 0)];
    let expected = expected.map(|(level, percent)| (level.to_owned(), percent));
    assert_eq!(shares, BTreeSet::from(expected));
}

#[test]
fn about_a_half_of_the_agents_drop_amid_their_reply_and_all_variants_the_same() {
    let plan = planned(CANCEL).unwrap();
    let mut drops = BTreeSet::new();
    for run in plan.runs.iter().filter(|run| run.block == 1 && !run.warmup) {
        let agents = workload(run).agents;
        let after: Vec<u64> = agents.iter().map(|agent| agent.drop_after_tokens).collect();
        let dropping = after.iter().filter(|tokens| **tokens > 0).count();
        if run.cell["drop"] == "none" {
            assert_eq!(dropping, 0);
            continue;
        }
        assert!((200..=300).contains(&dropping), "{dropping} of {}", agents.len());
        let lengths = agents.iter().map(|agent| agent.calls[0].options.num_predict.cast_unsigned());
        assert!(after.iter().zip(lengths).all(|(after, tokens)| *after + 1 < tokens), "{after:?}");
        assert!((1..9).all(|tokens| after.contains(&tokens)), "{after:?}");
        drops.insert(after);
    }
    assert_eq!(drops.len(), 1);
}

#[test]
fn agents_come_one_after_another_at_the_rate_of_their_cell() {
    let plan = planned(ARRIVALS).unwrap();
    for run in plan.runs.iter().filter(|run| run.block == 1) {
        let agents = workload(run).agents;
        let due: Vec<u64> = agents.iter().map(|agent| agent.start_after_ns).collect();
        assert!(due[0] > 0 && due.is_sorted(), "{due:?}");
        let rate = run.cell["arrivals_per_s"].parse::<f64>().unwrap();
        let last_s = *due.last().unwrap() as f64 / 1e9;
        let expected_s = agents.len() as f64 / rate;
        assert!((0.7..1.4).contains(&(last_s / expected_s)), "{last_s} s, not {expected_s}");
        assert!(run.expected_ms as f64 > last_s * 1e3);
    }
    let never = planned(&ARRIVALS.replace("\"2000\"", "\"0\"")).unwrap_err();
    assert!(never.contains("`0` does not lie above 0"), "{never}");
}

#[test]
fn every_client_holds_ten_thousand_streams_for_a_minute() {
    let plan = planned(HOLD).unwrap();
    let run = plan.runs.iter().find(|run| !run.warmup).unwrap();
    assert_eq!(workload(run).agents.len(), 10_000);
    assert!(run.expected_ms >= 60_000, "{}", run.expected_ms);
}
