//! Plans of the comparison of scheduling policies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lab_families::schedulers::Schedulers;
use lab_family::{Family, InputError, Places};
use lab_plan::{Plan, PlannedRun};
use lab_protocol::schedulers::{Load, Replay, Test, Workload};

const OFFLOAD: &str = include_str!("../../../../experiments/offload.toml");
const PUBLISHED: &str = include_str!("../../../../experiments/offload-published.toml");
const SIXTEEN: &str = include_str!("../../../../experiments/offload-16.toml");
const TIMES: &str = "site\tinline_ns\toffload_ns\n0\t5000\t9000\n1\t50000\t9500\n";
/// Steps between two changes of the costs `shift`.
const SHIFT_STEPS: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, InputError> {
    planned_with(text, profile, TIMES)
}

fn planned_with(text: &str, profile: Option<&str>, times: &str) -> Result<Plan, InputError> {
    proof_kit::world::planned((&Schedulers, &root()), text, profile, Some(times))
}

fn workload(run: &PlannedRun) -> Workload {
    serde_json::from_value(run.work.workload(&Places::default())).unwrap()
}

fn replay(run: &PlannedRun) -> Replay {
    match workload(run).test {
        Test::Replay(replay) => replay,
        other => panic!("no replay: {other:?}"),
    }
}

fn costs(plan: &Plan, name: &str) -> Replay {
    let is_it = |run: &&PlannedRun| {
        !run.warmup && run.cell["test"] == "replay" && run.cell["costs"] == name
    };
    replay(plan.runs.iter().find(is_it).expect("the experiment has the costs"))
}

#[test]
fn older_records_call_the_section_offload() {
    let old = OFFLOAD.replace("[schedulers", "[offload");
    let section = lab_family::text::stored_section(&old, Schedulers.definition(), None);
    let defaults = lab_family::text::defaults(&section);
    assert_eq!(defaults["costs"], "inline_240_offload_30");
}

#[test]
fn every_policy_sees_the_same_costs_in_a_block_and_others_in_the_next() {
    let plan = planned(OFFLOAD, None).unwrap();
    let of = |block: u32| {
        let runs = plan.runs.iter().filter(move |run| {
            run.block == block && run.cell["test"] == "replay" && run.cell["costs"] == "shift"
        });
        runs.map(replay).collect::<Vec<_>>()
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
    for (turn, inline_ns) in shift.inline_ns.chunks(SHIFT_STEPS).enumerate() {
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
fn the_published_sweep_has_its_shift_its_rates_single_decisions_and_pins() {
    let plan = planned(PUBLISHED, None).unwrap();
    let shift = costs(&plan, "shift_once");
    let (fast, slow) = shift.inline_ns.split_at(200);
    assert!(fast.iter().all(|ns| (18_000..=22_000).contains(ns)));
    assert!(slow.len() == 200 && slow.iter().all(|ns| (450_000..=550_000).contains(ns)));
    let of = |factor: &str, level: &str| {
        let mut runs = plan.runs.iter().filter(|run| !run.warmup);
        workload(runs.find(|run| run.cell[factor] == level).expect("the sweep has the level"))
    };
    for rate in [100, 1_000, 4_000, 8_000, 20_000] {
        let every_us = 1_000_000 / rate;
        let Test::Wake(wake) = of("load", &format!("rate_{rate}")).test else {
            panic!("{rate} is no wake")
        };
        assert_eq!(wake.load, Load::Open { work_ns: 20_000, every_us });
    }
    let Test::Decide(decide) = of("part", "single").test else { panic!("no decision") };
    assert_eq!((decide.calls, decide.keys, decide.batches), (1, 1, 4_000));
    assert!(of("pinned", "on").pinned && !of("part", "cycle").pinned);
    // An older experiment has no such factor.
    assert!(planned(OFFLOAD, None).unwrap().runs.iter().all(|run| !workload(run).pinned));
}

#[test]
fn streams_are_of_the_published_items_and_mixed_as_published() {
    let plan = planned(OFFLOAD, None).unwrap();
    let of = |work: &str| {
        let is_it = |run: &&PlannedRun| {
            !run.warmup && run.cell["test"] == "stream" && run.cell["work"] == work
        };
        match workload(plan.runs.iter().find(is_it).expect("the sweep has the work")).test {
            Test::Stream(stream) => stream.class_work_ns,
            other => panic!("no stream: {other:?}"),
        }
    };
    for (work, item_ns) in [("fast", 10_000), ("medium", 100_000), ("slow", 500_000)] {
        assert_eq!(of(work), [item_ns], "{work}");
    }
    // An item's class is drawn, each with equal probability.
    let mixed = of("mixed");
    let of_ten =
        |item_ns| 10 * mixed.iter().filter(|class| **class == item_ns).count() / mixed.len();
    assert_eq!([10_000, 100_000, 500_000].map(of_ten), [6, 3, 1]);
}

#[test]
fn the_sweep_for_sixteen_cpus_has_the_published_ratios_and_waits_for_the_cpus() {
    let files = (("offload-16.toml", SIXTEEN), ("offload-published.toml", PUBLISHED));
    let text = lab_plan::merged(files.0, files.1).unwrap();
    let plan = planned(&text, None).unwrap();
    let timed = plan.runs.iter().filter(|run| !run.warmup).map(workload);
    let ratios: BTreeSet<_> = timed.map(|work| (work.tokio_workers, work.rayon_threads)).collect();
    assert_eq!(ratios, BTreeSet::from([(1, 15), (2, 14), (8, 8)]));
    let experiment: toml::Table = text.parse().unwrap();
    let expected = experiment["expect"].as_array().unwrap();
    assert!(expected.len() == 3);
    assert!(expected.iter().all(|one| one["needs_cpus"].as_integer() == Some(16)));
}

#[test]
fn the_work_is_the_test_of_the_cell() {
    let plan = planned(OFFLOAD, Some("quick")).unwrap();
    let mut tests = BTreeMap::new();
    for run in &plan.runs {
        let name = match workload(run).test {
            Test::Decide(_) => "decide",
            Test::Replay(costs) => {
                assert!(!costs.site.is_empty());
                "replay"
            }
            Test::Stream(_) => "stream",
            Test::Wake(_) => "wake",
        };
        assert_eq!(run.cell["test"], name);
        tests.insert(name, run.order);
    }
    assert_eq!(tests.len(), 4);
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
    assert!(level.contains("load") && level.contains("block_3ms"), "{level}");
    let zero = refused("every_us = 6_000", "every_us = 0");
    assert!(zero.contains("schedulers.load.block_3ms"), "{zero}");
    let burst = "{ bursts = { low_ns = 9, high_ns = 5, jobs = 2, every_us = 1 } }";
    let burst = refused("idle = \"idle\"", &format!("idle = \"idle\"\nburst = {burst}"));
    assert!(burst.contains("schedulers.load.burst") && burst.contains("from low_ns"), "{burst}");
    let threads = refused("rayon_threads = \"2\"", "rayon_threads = \"0\"");
    assert!(threads.contains("rayon_threads") && threads.contains("1 to 1,024"), "{threads}");
    let table = planned_with(OFFLOAD, None, "site\tinline_ns\toffload_ns\n0\t5000\n");
    let table = table.unwrap_err().to_string();
    assert!(table.contains("offload-service-times.tsv") && table.contains("line 2"), "{table}");
}
