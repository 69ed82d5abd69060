//! Plans of the committed experiments, and plans that must not be made.

mod manifests;

use std::collections::{BTreeMap, BTreeSet};

use lab_plan::{Experiment, Manifest, Plan, PlanError, PlannedRun, Work, plan};
use lab_protocol::agents::{Arrangement, Workload};

const TR115: &str = include_str!("../../../experiments/tr115.toml");
const PUBLISHED: &str = include_str!("../../../experiments/tr115-published.toml");
const OLLAMA: &str = include_str!("../../../experiments/tr115-ollama.toml");
const TR113: &str = include_str!("../../../experiments/tr113.toml");
const GPU: &str = include_str!("../../../experiments/tr115-gpu.toml");
const SERVERS: &str = include_str!("../../../experiments/tables/tr115-servers.toml");
const CPU: &str = include_str!("../../../experiments/tables/ollama-cpu.toml");
const CARD: &str = include_str!("../../../experiments/tables/ollama-gpu.toml");
const VARIANTS: [&str; 5] = ["tokio_default", "tokio_localset", "async_std", "smol", "smol_1kb"];

fn manifests(names: &[&str]) -> Vec<Manifest> {
    let mut found = manifests::manifests("runtimes");
    found.retain(|manifest| names.contains(&manifest.name.as_str()));
    found
}

fn planned(text: &str, table: &str, names: &[&str]) -> Result<Plan, PlanError> {
    let experiment = Experiment::parse("e.toml", text)?;
    let attachments = BTreeMap::from([("servers".to_owned(), table.to_owned())]);
    plan("e.toml", &experiment, &manifests(names), &attachments)
}

fn workload(run: &PlannedRun) -> &Workload {
    match &run.work {
        Work::Agents { workload, .. } => workload,
        _ => panic!("an experiment of agents"),
    }
}

fn lengths(run: &PlannedRun) -> Vec<i64> {
    let calls = workload(run).agents.iter().flat_map(|agent| &agent.calls);
    calls.map(|call| call.options.num_predict).collect()
}

#[test]
fn every_block_holds_every_cell_of_every_entrant_once() {
    let plan = planned(TR115, SERVERS, &VARIANTS).unwrap();
    let mut seen: BTreeMap<u32, BTreeSet<_>> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| !run.warmup) {
        assert!(seen.entry(run.block).or_default().insert((&run.variant, &run.cell)));
    }
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    // Five variants and the twin, six configurations twice and the anchor twice.
    assert!(seen.values().all(|block| block.len() == 6 * (6 * 2 + 2)));
}

#[test]
fn the_order_is_random_and_repeatable() {
    let plan = planned(TR115, SERVERS, &VARIANTS).unwrap();
    assert_eq!(plan, planned(TR115, SERVERS, &VARIANTS).unwrap());
    let order = |block| {
        let runs = plan.runs.iter().filter(move |run| run.block == block);
        runs.map(|run| (run.variant.clone(), run.cell.clone())).collect::<Vec<_>>()
    };
    assert_ne!(order(1), order(2));
}

#[test]
fn all_variants_and_both_arrangements_get_the_same_lengths() {
    let plan = planned(TR115, SERVERS, &VARIANTS).unwrap();
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
    let plan = planned(TR115, SERVERS, &VARIANTS).unwrap();
    let of = |config: &str| {
        let runs = plan.runs.iter().filter(|run| run.block == 3 && run.cell["config"] == config);
        runs.map(lengths).next().unwrap()
    };
    assert_eq!(of("chimera_homo_ctx512"), of("chimera_homo_gpu100"));
    assert_ne!(of("chimera_homo_ctx512"), of("chimera_homo_ctx2048"));
}

#[test]
fn published_lengths_differ_between_variants() {
    let plan = planned(PUBLISHED, SERVERS, &VARIANTS).unwrap();
    let here = |run: &&PlannedRun| run.block == 1 && run.cell["config"] == "chimera_hetero";
    let draws: BTreeSet<_> = plan.runs.iter().filter(here).map(lengths).collect();
    assert_eq!(draws.len(), 6, "the twin draws its own lengths as well");
}

#[test]
fn arrangements_stay_together_and_alternate() {
    let plan = planned(OLLAMA, CPU, &VARIANTS).unwrap();
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
        let names = [&VARIANTS[..], &["floor"]].concat();
        let plan = planned(text, table, &names).unwrap();
        let mut by_place: BTreeMap<_, BTreeMap<usize, Vec<i64>>> = BTreeMap::new();
        let here = |run: &&PlannedRun| run.variant == "tokio_default" && !run.warmup;
        for run in plan.runs.iter().filter(here) {
            let Work::Agents { servers, .. } = run.work else { panic!("an experiment of agents") };
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
    let plan = planned(&text, SERVERS, &VARIANTS).unwrap();
    let mode_of = |run: &PlannedRun| {
        let Work::Agents { paced, .. } = &run.work else { panic!("an experiment of agents") };
        let mode = paced.as_ref().unwrap()["mode"].as_str().unwrap().to_owned();
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
    let plan = planned(OLLAMA, CPU, &VARIANTS).unwrap();
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
    let experiment = Experiment::parse("e", TR115).unwrap().with_profile("e", "quick").unwrap();
    assert_eq!((experiment.blocks, experiment.analysis.comparisons.len()), (1, 0));
}

fn refused(change: (&str, &str), expected: &str) {
    let text = TR115.replacen(change.0, change.1, 1);
    assert_ne!(text, TR115, "the test changes nothing");
    let error = planned(&text, SERVERS, &VARIANTS).unwrap_err().to_string();
    assert!(error.starts_with("e.toml") && error.contains(expected), "{error}");
}

#[test]
fn mistakes_are_named_with_file_and_key() {
    refused(("blocks = 6", "blocks = 0"), "key `blocks`: must be at least 1");
    refused(("blocks = 6", "blokcs = 6"), "blokcs");
    refused(("schema = 1", "schema = 2"), "key `schema`: is 2, this lab reads 1");
    refused(("\"chimera_hetero\"", "\"chimera_homo\""), "`chimera_homo` is not a row of");
    refused(("twin = \"tokio_default\"", "twin = \"tokyo\""), "no variant `tokyo` is selected");
    refused(("time_scale = 0.01", "time_scale = 0.0"), "key `agents.time_scale`");
    refused(("[\"concurrent\", \"solo\"]", "[\"parallel\"]"), "`parallel` is neither");
    let three = "servers = [\"3\"]\narrangement =";
    refused(("arrangement =", three), "key `cells.servers`: `3` is neither 1 nor the number");
    refused(("margin = 0.01", "margin = 0.0"), "must be above 0");
}

#[test]
fn an_unknown_profile_lists_those_there_are() {
    let error = Experiment::parse("e", TR115).unwrap().with_profile("e", "fast").unwrap_err();
    assert!(error.to_string().contains("this file has: paper, quick"), "{error}");
}

#[test]
fn a_table_that_cannot_be_drawn_from_is_refused() {
    let text = CPU.replacen("tokens = [96, 126]", "tokens = [126, 96]", 1);
    let error = planned(OLLAMA, &text, &VARIANTS).unwrap_err().to_string();
    let expected = "tables/ollama-cpu.toml: key `config.ctx512.reply_tokens`: must rise";
    assert!(error.starts_with(expected), "{error}");
}
