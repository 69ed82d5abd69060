//! Plans of the committed experiments, and plans that must not be made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lab_families::runtimes::Runtimes;
use lab_family::Places;
use lab_plan::{Experiment, InputError, Plan, PlannedRun};
use lab_protocol::runtimes::{Arrangement, Workload};

const TR115: &str = include_str!("../../../../experiments/tr115.toml");
const PUBLISHED: &str = include_str!("../../../../experiments/tr115-published.toml");
const OLLAMA: &str = include_str!("../../../../experiments/tr115-ollama.toml");
const TR113: &str = include_str!("../../../../experiments/tr113.toml");
const GPU: &str = include_str!("../../../../experiments/tr115-gpu.toml");
const SERVERS: &str = include_str!("../../../../experiments/tables/tr115-servers.toml");
const CPU: &str = include_str!("../../../../experiments/tables/ollama-cpu.toml");
const CARD: &str = include_str!("../../../../experiments/tables/ollama-gpu.toml");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn planned(text: &str, table: &str) -> Result<Plan, InputError> {
    proof_kit::world::planned((&Runtimes, &root()), text, None, Some(table))
}

fn workload(run: &PlannedRun) -> Workload {
    serde_json::from_value(run.work.workload(&Places::default())).expect("a workload")
}

fn lengths(run: &PlannedRun) -> Vec<i64> {
    let calls = workload(run).agents.into_iter().flat_map(|agent| agent.calls);
    calls.map(|call| call.options.num_predict).collect()
}

#[test]
fn every_block_holds_every_cell_of_every_entrant_once() {
    let plan = planned(TR115, SERVERS).unwrap();
    let mut seen: BTreeMap<u32, BTreeSet<_>> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| !run.warmup) {
        assert!(seen.entry(run.block).or_default().insert((&run.variant, &run.cell)));
    }
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    // Nine variants and the twin, six configurations twice and the anchor twice.
    assert!(seen.values().all(|block| block.len() == 10 * (6 * 2 + 2)));
}

#[test]
fn the_order_is_random_and_repeatable() {
    let plan = planned(TR115, SERVERS).unwrap();
    let again = planned(TR115, SERVERS).unwrap();
    let order = |plan: &Plan, block| {
        let runs = plan.runs.iter().filter(move |run| run.block == block);
        runs.map(|run| (run.variant.clone(), run.cell.clone(), lengths(run))).collect::<Vec<_>>()
    };
    let places = |plan: &Plan, block| {
        order(plan, block).into_iter().map(|(variant, cell, _)| (variant, cell)).collect::<Vec<_>>()
    };
    assert_eq!(order(&plan, 1), order(&again, 1));
    assert_ne!(places(&plan, 1), places(&plan, 2));
}

#[test]
fn all_variants_and_both_arrangements_get_the_same_lengths() {
    let plan = planned(TR115, SERVERS).unwrap();
    let mut by_place: BTreeMap<_, BTreeSet<Vec<i64>>> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| !run.warmup) {
        let place = (run.block, run.cell["config"].clone(), run.cell.get("repeat").cloned());
        by_place.entry(place).or_default().insert(lengths(run));
    }
    assert!(by_place.values().all(|lengths| lengths.len() == 1));
    let distinct: BTreeSet<_> = by_place.values().flatten().collect();
    assert!(distinct.len() > 20, "only {} distinct draws", distinct.len());
}

#[test]
fn equal_parameters_are_the_same_treatment() {
    let plan = planned(TR115, SERVERS).unwrap();
    let of = |config: &str| {
        let runs = plan.runs.iter().filter(|run| run.block == 3 && run.cell["config"] == config);
        runs.map(lengths).next().unwrap()
    };
    assert_eq!(of("chimera_homo_ctx512"), of("chimera_homo_gpu100"));
    assert_ne!(of("chimera_homo_ctx512"), of("chimera_homo_ctx2048"));
}

#[test]
fn published_lengths_differ_between_variants() {
    let plan = planned(PUBLISHED, SERVERS).unwrap();
    let here = |run: &&PlannedRun| run.block == 1 && run.cell["config"] == "chimera_hetero";
    let draws: BTreeSet<_> = plan.runs.iter().filter(here).map(lengths).collect();
    assert_eq!(draws.len(), 6, "the twin draws its own lengths as well");
}

#[test]
fn arrangements_stay_together_and_alternate() {
    let plan = planned(OLLAMA, CPU).unwrap();
    let timed: Vec<_> = plan.runs.iter().filter(|run| !run.warmup).collect();
    let mut concurrent_first = 0;
    for pair in timed.chunks(2) {
        assert_eq!(pair[0].variant, pair[1].variant);
        assert_eq!(pair[0].cell["config"], pair[1].cell["config"]);
        concurrent_first += usize::from(workload(pair[0]).arrangement == Arrangement::Concurrent);
    }
    assert_eq!(concurrent_first * 2, timed.len() / 2);
}

#[test]
fn one_server_gets_the_lengths_that_two_get() {
    for (text, table) in [(TR113, CPU), (GPU, CARD)] {
        let plan = planned(text, table).unwrap();
        let mut by_place: BTreeMap<_, BTreeMap<usize, Vec<i64>>> = BTreeMap::new();
        let here = |run: &&PlannedRun| run.variant == "tokio_default" && !run.warmup;
        for run in plan.runs.iter().filter(here) {
            let servers = run.work.servers();
            assert_eq!(run.cell["servers"], servers.to_string());
            let place = (run.block, run.cell["config"].clone());
            by_place.entry(place).or_default().insert(servers, lengths(run));
        }
        assert!(by_place.values().all(|lengths| lengths.len() == 2 && lengths[&1] == lengths[&2]));
    }
}

#[test]
fn one_paced_server_answers_in_turn() {
    let text = TR115.replacen("arrangement =", "servers = [\"1\", \"2\"]\narrangement =", 1);
    let plan = planned(&text, SERVERS).unwrap();
    let mode_of = |run: &PlannedRun| {
        let mode = run.work.paced().unwrap()["mode"].as_str().unwrap().to_owned();
        (run.cell.get("servers").cloned(), mode)
    };
    let modes: BTreeSet<_> = plan.runs.iter().map(mode_of).collect();
    let pair = |servers: Option<&str>, mode: &str| (servers.map(str::to_owned), mode.to_owned());
    let expected = [
        // The anchor, which the text above leaves as it is.
        pair(None, "shared_gpu"),
        pair(Some("1"), "queue"),
        pair(Some("2"), "shared_gpu"),
    ];
    assert_eq!(modes, BTreeSet::from(expected));
}

#[test]
fn prompts_begin_with_a_line_of_their_own() {
    let plan = planned(OLLAMA, CPU).unwrap();
    let mut first_lines = BTreeSet::new();
    for run in &plan.runs {
        for call in workload(run).agents.iter().flat_map(|agent| &agent.calls) {
            assert!(first_lines.insert(call.prompt.lines().next().unwrap().to_owned()));
            assert!(call.options.num_predict <= 64);
        }
    }
}

#[test]
fn the_quick_profile_is_one_block_without_verdicts() {
    let experiment = Experiment::parse("e", TR115, &[&Runtimes]).unwrap();
    let written = experiment.with_profile("quick").unwrap().written;
    assert_eq!((written.blocks, written.analysis.comparisons.len()), (1, 0));
    assert!(written.expect.is_empty());
}

fn refused(change: (&str, &str), expected: &str) {
    let text = TR115.replace(change.0, change.1);
    assert_ne!(text, TR115, "the test changes nothing");
    let error = planned(&text, SERVERS).unwrap_err().to_string();
    assert!(error.starts_with("e.toml") && error.contains(expected), "{error}");
}

#[test]
fn mistakes_are_named_with_file_and_key() {
    refused(("blocks = 6", "blocks = 0"), "key `blocks`: must lie between 1 and 10000");
    refused(("blocks = 6", "blokcs = 6"), "blokcs");
    refused(("schema = 1", "schema = 2"), "key `schema`: is 2, this lab reads 1");
    refused(("twin = \"tokio_default\"", "twin = \"tokyo\""), "`tokyo` is no variant of runtimes");
    refused(("margin = 0.01", "margin = 0.0"), "must be above 0");
    refused(("\"wall_ns\"", "\"wal_ns\""), "`wal_ns` is no metric of runtimes");
}

#[test]
fn mistakes_in_the_section_are_named_with_file_and_key() {
    refused(("\"chimera_hetero\"", "\"chimera_homo\""), "`chimera_homo` is not a row of");
    refused(("time_scale = 0.01", "time_scale = 0.0"), "key `runtimes.time_scale`");
    refused(("agents = 2", "agents = 0"), "key `runtimes.agents`");
    refused(("stall_timeout_ms", "stall_timeout_s"), "stall_timeout_s");
    refused(("\"solo\"", "\"parallel\""), "is `parallel`; it must be one of concurrent, solo");
    let three = "[[cells]]\nservers = [\"3\"]\nconfig = [\"anchor\"]";
    let message = "key `cells.servers`: `3` is neither 1 nor the number";
    refused(("[[cells]]\nconfig = [\"anchor\"]", three), message);
}

#[test]
fn an_unknown_profile_is_answered_with_those_there_are() {
    let experiment = Experiment::parse("e", TR115, &[&Runtimes]).unwrap();
    let error = experiment.with_profile("fastest").unwrap_err().to_string();
    assert!(error.ends_with("`fastest` is no profile; there are: paper, quick"), "{error}");
}

#[test]
fn a_table_that_cannot_be_drawn_from_is_refused() {
    let text = CPU.replacen("tokens = [96, 126]", "tokens = [126, 96]", 1);
    let error = planned(OLLAMA, &text).unwrap_err().to_string();
    let expected = "tables/ollama-cpu.toml: key `config.ctx512.reply_tokens`: must rise";
    assert!(error.starts_with(expected), "{error}");
}
