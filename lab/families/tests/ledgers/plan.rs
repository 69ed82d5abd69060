//! Plans of the thread sweep.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lab_families::ledgers::Ledgers;
use lab_family::Places;
use lab_plan::{Experiment, InputError, Plan, PlannedRun, merged};
use lab_protocol::ledgers::{Workers, Workload};

const THREADS: &str = include_str!("../../../../experiments/threads.toml");
const LARGE: &str = include_str!("../../../../experiments/threads-64.toml");
const VARIANTS: [&str; 7] = ["dashmap", "sharded_mutex", "owned", "sync", "rayon", "smol", "empty"];

fn large() -> String {
    merged(("threads-64.toml", LARGE), ("threads.toml", THREADS)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, InputError> {
    proof_kit::world::planned((&Ledgers, &root()), text, profile, None)
}

fn workload(run: &PlannedRun) -> Workload {
    serde_json::from_value(run.work.workload(&Places::default())).unwrap()
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
    assert_eq!(checks.len(), VARIANTS.len() + 1, "every variant and the twin");
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
fn the_floor_has_the_same_transactions_and_no_work() {
    let plan = planned(THREADS, None).unwrap();
    for run in &plan.runs {
        let floor = run.work.floor_workload(&Places::default(), &[]).unwrap();
        let (workload, floor): (_, Workload) =
            (workload(run), serde_json::from_value(floor).unwrap());
        assert_eq!(workload.data, floor.data);
        assert_eq!((floor.work_ns, floor.repetitions), (0, 1));
        let harness = ["harness".to_owned()];
        assert!(run.work.floor_workload(&Places::default(), &harness).is_none());
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
    let plan = planned(&large(), None).unwrap();
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

#[test]
fn contrasts_are_complete_and_the_large_sweep_asks_the_same() {
    let analysis =
        |text: &str| Experiment::parse("e.toml", text, &[&Ledgers]).unwrap().written.analysis;
    let (small, large) = (analysis(THREADS), analysis(&large()));
    assert_eq!((small.contrasts.len(), large.contrasts.len()), (29, 29));
    for contrast in small.contrasts.iter().chain(&large.contrasts) {
        assert_eq!(contrast.cells.len(), 9, "{}: every factor but its own", contrast.id);
    }
    let find = |id: &str| large.contrasts.iter().find(|one| one.id == id);
    let pinned = find("pinned_at_8").unwrap();
    assert_eq!((pinned.cells["workers"][0].as_str(), pinned.factor.as_str()), ("8", "pinned"));
    assert!(find("pinned_at_2").is_none());
    assert_eq!(large.comparisons[0].cells["workers"], ["8"]);
}

#[track_caller]
fn refused(change: (&str, &str), expected: &str) {
    proof_kit::world::refused(THREADS, change, |text| planned(text, None), expected);
}

#[test]
fn mistakes_are_named_with_file_and_key() {
    refused(("level = \"16\"", "level = \"61\""), "`61` is no level of `workers`");
    refused(("[\"1\", \"2\", \"3\"", "[\"none\", \"2\", \"3\""), "key `cells.workers`: is `none`");
    refused(("\"hot\", \"zipf\"", "\"lukewarm\", \"hot\""), "is `lukewarm`; it must be one of");
    refused(("shards = \"library\"\n", ""), "key `ledgers.defaults`: has no level for `shards`");
    refused(("\"256\", \"1024\"", "\"250\", \"256\", \"1024\""), "key `cells.shards`: is `250`");
    refused(("repetitions_min = 3", "repetitions_min = 0"), "key `ledgers.repetitions_min`");
    refused(("family = \"ledgers\"", "family = \"ledger\""), "`ledger` is no family");
    refused(("variant = \"sync\"", "variant = \"sink\""), "`sink` is no variant of ledgers");
    refused(
        ("[\"tag:harness\"]", "[\"tag:harnes\"]"),
        "`harnes` is no tag of a variant of ledgers",
    );
}
