//! Plans of the comparison of scheduling policies.

mod manifests;

use std::collections::{BTreeMap, BTreeSet};

use lab_plan::{Experiment, Plan, PlanError, PlannedRun, Work, offload::SHIFT_STEPS, plan};
use lab_protocol::offload::{Replay, Test, Workload};

use manifests::manifests;

const OFFLOAD: &str = include_str!("../../../experiments/offload.toml");
const TIMES: &str = "site\tinline_ns\toffload_ns\n0\t5000\t9000\n1\t50000\t9500\n";

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, PlanError> {
    planned_with(text, profile, TIMES)
}

fn planned_with(text: &str, profile: Option<&str>, times: &str) -> Result<Plan, PlanError> {
    let mut experiment = Experiment::parse("e.toml", text)?;
    if let Some(profile) = profile {
        experiment = experiment.with_profile("e.toml", profile)?;
    }
    let attachments = BTreeMap::from([("service_times".to_owned(), times.to_owned())]);
    plan("e.toml", &experiment, &manifests("schedulers"), &attachments)
}

fn parts(run: &PlannedRun) -> (&Workload, Option<&Replay>) {
    match &run.work {
        Work::Offload { workload, costs } => (workload, costs.as_ref()),
        _ => panic!("an experiment of schedulers"),
    }
}

fn costs<'a>(plan: &'a Plan, name: &str) -> &'a Replay {
    let found = plan
        .runs
        .iter()
        .find(|run| !run.warmup && run.cell["test"] == "replay" && run.cell["costs"] == name);
    parts(found.expect("the experiment has the costs")).1.expect("a replay has costs")
}

#[test]
fn every_cell_has_a_level_for_every_factor_and_is_planned_once_a_block() {
    let plan = planned(OFFLOAD, None).unwrap();
    let factors = &plan.runs[0].cell;
    let mut seen = BTreeSet::new();
    for run in &plan.runs {
        assert!(run.cell.keys().eq(factors.keys()));
        assert!(seen.insert((run.block, &run.variant, &run.cell)) || run.warmup);
    }
}

#[test]
fn every_policy_sees_the_same_costs_in_a_block_and_others_in_the_next() {
    let plan = planned(OFFLOAD, None).unwrap();
    let of = |block: u32| {
        let runs = plan.runs.iter().filter(move |run| {
            run.block == block && run.cell["test"] == "replay" && run.cell["costs"] == "shift"
        });
        runs.map(|run| parts(run).1.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of(1).len(), 8);
    assert!(of(1).windows(2).all(|pair| pair[0] == pair[1]));
    assert_ne!(of(1)[0], of(2)[0]);
}

#[test]
fn costs_are_what_their_names_say() {
    let plan = planned(OFFLOAD, None).unwrap();
    let within = |values: &[u64], low: u64, high: u64| {
        assert!(values.iter().all(|ns| (low..=high).contains(ns)), "{low} to {high}");
    };
    let published = costs(&plan, "inline_240_offload_30");
    within(&published.inline_ns, 216_000, 264_000);
    within(&published.offload_ns, 27_000, 33_000);
    let shift = costs(&plan, "shift");
    for (turn, inline_ns) in shift.inline_ns.chunks(SHIFT_STEPS as usize).enumerate() {
        let (low, high) = if turn % 2 == 0 { (18_000, 22_000) } else { (450_000, 550_000) };
        within(inline_ns, low, high);
    }
    let sized = costs(&plan, "by_size");
    for (size, inline_ns) in sized.size.iter().zip(&sized.inline_ns) {
        within(&[*inline_ns], size * 900, size * 1_100);
    }
    let recorded = costs(&plan, "recorded");
    assert_eq!(recorded.inline_ns[..3], [5_000, 50_000, 5_000]);
    assert_eq!(recorded.site[..3], [0, 1, 0]);
    let sites: BTreeSet<u32> = costs(&plan, "many_sites").site.iter().copied().collect();
    assert_eq!(sites.len(), 64);
}

#[test]
fn only_a_replay_has_costs() {
    let plan = planned(OFFLOAD, None).unwrap();
    for run in &plan.runs {
        let (workload, costs) = parts(run);
        assert_eq!(matches!(workload.test, Test::Replay(_)), costs.is_some());
    }
}

#[test]
fn a_quick_profile_keeps_every_test() {
    let plan = planned(OFFLOAD, Some("quick")).unwrap();
    let tests: BTreeSet<&str> = plan.runs.iter().map(|run| run.cell["test"].as_str()).collect();
    assert_eq!(tests, BTreeSet::from(["decide", "replay", "stream", "wake"]));
    let forecast_ms: u64 = plan.runs.iter().map(|run| run.expected_ms).sum();
    assert!(forecast_ms < 120_000, "{forecast_ms} ms");
}

#[test]
fn bad_levels_and_tables_are_named() {
    let refused = |from: &str, to: &str| {
        assert!(OFFLOAD.contains(from), "{from}");
        planned(&OFFLOAD.replacen(from, to, 1), None).unwrap_err().to_string()
    };
    let level = refused("load = [\"block_3ms\"]", "load = [\"storm\"]");
    assert!(level.contains("cells.load") && level.contains("block_3ms"), "{level}");
    let zero = refused("every_us = 6_000", "every_us = 0");
    assert!(zero.contains("offload.load.block_3ms"), "{zero}");
    let threads = refused("rayon_threads = \"2\"", "rayon_threads = \"0\"");
    assert!(threads.contains("rayon_threads") && threads.contains("1 to 1,024"), "{threads}");
    let table = planned_with(OFFLOAD, None, "site\tinline_ns\toffload_ns\n0\t5000\n");
    let table = table.unwrap_err().to_string();
    assert!(table.contains("offload-service-times.tsv") && table.contains("line 2"), "{table}");
}
