//! Plans of the thread sweep.

mod manifests;

use std::collections::{BTreeMap, BTreeSet};

use lab_plan::{Experiment, Plan, PlanError, PlannedRun, Work, plan};
use lab_protocol::ledgers::{Workers, Workload};

use manifests::manifests;

const THREADS: &str = include_str!("../../../experiments/threads.toml");
const LARGE: &str = include_str!("../../../experiments/threads-64.toml");

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, PlanError> {
    let mut experiment = Experiment::parse("e.toml", text)?;
    if let Some(profile) = profile {
        experiment = experiment.with_profile("e.toml", profile)?;
    }
    plan("e.toml", &experiment, &manifests("ledgers"), &BTreeMap::new())
}

fn workload(run: &PlannedRun) -> &Workload {
    match &run.work {
        Work::Ledgers { workload, .. } => workload,
        _ => panic!("an experiment of ledgers"),
    }
}

#[test]
fn every_cell_has_a_level_for_every_factor_and_is_planned_once_a_block() {
    let plan = planned(THREADS, None).unwrap();
    let factors = &plan.runs[0].cell;
    let mut seen = BTreeSet::new();
    for run in &plan.runs {
        assert!(run.cell.keys().eq(factors.keys()));
        assert!(seen.insert((run.block, &run.variant, &run.cell)) || run.warmup);
    }
}

#[test]
fn a_group_that_names_variants_is_for_them_alone() {
    let plan = planned(THREADS, None).unwrap();
    let counts = |variant: &str| {
        let runs = plan.runs.iter().filter(|run| !run.warmup && run.variant == variant);
        runs.map(|run| run.cell["workers"].as_str()).collect::<BTreeSet<_>>()
    };
    assert_eq!(counts("sync"), BTreeSet::from(["1"]));
    assert!(counts("dashmap").contains("default"));
}

#[test]
fn every_variant_is_checked_on_the_default_cell_first() {
    let plan = planned(THREADS, None).unwrap();
    let checks: Vec<_> = plan.runs.iter().take_while(|run| run.warmup).collect();
    assert_eq!(checks.len(), manifests("ledgers").len() + 1, "every variant and the twin");
    assert!(checks.iter().all(|run| workload(run).workers == Workers::Count(1)));
}

#[test]
fn a_block_has_the_same_transactions_for_all_and_another_block_has_others() {
    let plan = planned(THREADS, None).unwrap();
    let mut seeds: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for run in &plan.runs {
        seeds.entry(run.block).or_default().insert(workload(run).data.seed);
    }
    assert!(seeds.values().all(|of_block| of_block.len() == 1));
    assert_eq!(seeds.values().flatten().collect::<BTreeSet<_>>().len(), seeds.len());
}

#[test]
fn the_oracle_has_the_same_transactions_and_no_work() {
    let plan = planned(THREADS, None).unwrap();
    for run in &plan.runs {
        let (workload, oracle) = (workload(run), lab_plan::ledgers::oracle(workload(run)));
        assert_eq!(workload.data, oracle.data);
        assert_eq!((oracle.work_ns, oracle.repetitions), (0, 1));
    }
}

#[test]
fn a_smoke_test_divides_transactions_and_work() {
    let plan = planned(THREADS, Some("quick")).unwrap();
    assert!(plan.runs.iter().all(|run| workload(run).data.transactions <= 100));
    assert!(plan.runs.iter().all(|run| workload(run).work_ns <= 500));
}

#[test]
fn the_sweep_for_a_large_machine_goes_to_twice_its_cpus() {
    let plan = planned(LARGE, None).unwrap();
    let counts: BTreeSet<_> = plan
        .runs
        .iter()
        .filter_map(|run| match workload(run).workers {
            Workers::Count(count) => Some(count),
            _ => None,
        })
        .collect();
    assert!(counts.contains(&8) && counts.contains(&64) && counts.contains(&128));
}

fn refused(change: (&str, &str), expected: &str) {
    let text = THREADS.replacen(change.0, change.1, 1);
    assert_ne!(text, THREADS, "the test changes nothing");
    let error = planned(&text, None).unwrap_err().to_string();
    assert!(error.starts_with("e.toml") && error.contains(expected), "{error}");
}

#[test]
fn mistakes_are_named_with_file_and_key() {
    refused(("[\"1\", \"2\"]", "[\"none\"]"), "key `cells.workers`: is `none`");
    refused(("\"disjoint\", \"hot\"", "\"lukewarm\""), "is `lukewarm`; it must be one of disjoint");
    refused(("shards = \"library\"\n", ""), "key `ledgers.defaults`: has no level for `shards`");
    refused(("\"256\"", "\"250\""), "key `cells.shards`: is `250`");
    refused(("repetitions_min = 3", "repetitions_min = 0"), "key `ledgers.repetitions_min`");
    refused(("family = \"ledgers\"", "family = \"ledger\""), "`ledger` is no family");
    refused(("family = \"ledgers\"", "family = \"runtimes\""), "key `agents`");
    refused(("variant = \"sync\"", "variant = \"sink\""), "no variant `sink` is selected");
    refused(("[\"tag:harness\"]", "[\"emtpy\"]"), "no variant `emtpy`");
    refused(("[\"tag:harness\"]", "[\"!tag:harnes\"]"), "carries the tag `harnes`");
    let wrong_tag = "`dashmap` is not selected, for it lacks the tag `threds`";
    refused(("tags = [\"threads\"]", "tags = [\"threds\"]"), wrong_tag);
}
