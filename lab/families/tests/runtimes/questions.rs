//! What the experiments around TR115 ask of agents: prompts, roles, calls, buffers, servers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lab_families::runtimes::Runtimes;
use lab_family::Places;
use lab_plan::{Plan, PlannedRun, merged};
use lab_protocol::runtimes::Workload;

const TR115: &str = include_str!("../../../../experiments/tr115.toml");
const V1: &str = include_str!("../../../../experiments/tr115-v1.toml");
const TR114: &str = include_str!("../../../../experiments/tr114.toml");
const BUFFER: &str = include_str!("../../../../experiments/tr115-buffer.toml");
const CONNECTIONS: &str = include_str!("../../../../experiments/threads-connections.toml");
const OLLAMA: &str = include_str!("../../../../experiments/tr115-ollama.toml");
const CONTEXT: &str = include_str!("../../../../experiments/tr115-context.toml");
const SERVERS: &str = include_str!("../../../../experiments/tables/tr115-servers.toml");
const TR114_SERVERS: &str = include_str!("../../../../experiments/tables/tr114-servers.toml");
const CONTEXT_SERVERS: &str = include_str!("../../../../experiments/tables/ollama-context.toml");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn planned(text: &str, table: &str) -> Result<Plan, String> {
    let plan = proof_kit::world::planned((&Runtimes, &root()), text, None, Some(table));
    plan.map_err(|error| error.to_string())
}

fn context() -> Plan {
    let text = merged(("tr115-context.toml", CONTEXT), ("tr115-ollama.toml", OLLAMA)).unwrap();
    planned(&text, CONTEXT_SERVERS).unwrap()
}

fn workload(run: &PlannedRun) -> Workload {
    serde_json::from_value(run.work.workload(&Places::default())).expect("a workload")
}

fn lengths(workload: &Workload) -> Vec<i64> {
    let calls = workload.agents.iter().flat_map(|agent| &agent.calls);
    calls.map(|call| call.options.num_predict).collect()
}

fn configs(plan: &Plan) -> BTreeSet<&str> {
    plan.runs.iter().map(|run| run.cell["config"].as_str()).collect()
}

#[test]
fn full_prompts_and_their_replies_fill_the_contexts() {
    let mut filled = BTreeSet::new();
    for run in context().runs.iter().filter(|run| run.cell["prompt"] == "full") {
        for call in workload(run).agents.iter().flat_map(|agent| &agent.calls) {
            let words = call.prompt.split_whitespace().count() as i64;
            let Some(context) = call.options.num_ctx else {
                assert!(words < 30, "nobody knows how much the server's own choice takes: {words}");
                continue;
            };
            let all = words + call.options.num_predict;
            assert!(all < context && all > context / 2 + 60, "{all} of {context}");
            filled.insert(context);
        }
    }
    assert_eq!(filled, BTreeSet::from([512, 1024, 2048]));
}

#[test]
fn a_short_prompt_has_the_length_of_its_full_twin_in_replies() {
    let plan = context();
    let mut by_place: BTreeMap<_, BTreeMap<String, Vec<i64>>> = BTreeMap::new();
    let is_here = |run: &&PlannedRun| {
        run.variant == "tokio_default" && run.cell["arrangement"] == "concurrent" && !run.warmup
    };
    for run in plan.runs.iter().filter(is_here) {
        let place = (run.block, run.cell["config"].clone());
        let lengths = lengths(&workload(run));
        by_place.entry(place).or_default().insert(run.cell["prompt"].clone(), lengths);
    }
    let both: Vec<_> = by_place.values().filter(|prompts| prompts.len() == 2).collect();
    assert_eq!(both.len(), 2 * 2, "two configurations in two blocks");
    assert!(both.iter().all(|prompts| prompts["short"] == prompts["full"]));
}

#[test]
fn two_agents_have_two_roles() {
    for run in &context().runs {
        let agents = workload(run).agents;
        let asks = |agent: usize, what: &str| {
            agents[agent].calls.iter().all(|call| call.prompt.contains(what))
        };
        // The first collects, the second concludes.
        assert!(asks(0, "collected") && asks(1, "conclu"), "{:?}", agents[1].calls);
        assert!(!asks(1, "collected"));
    }
    let plain = planned(TR115, SERVERS).unwrap();
    let agents = workload(&plain.runs[0]).agents;
    let question = |agent: usize| agents[agent].calls[0].prompt.lines().last().map(str::to_owned);
    assert_eq!(question(0), question(1), "without roles all ask the same");
}

#[test]
fn real_servers_have_all_six_configurations() {
    let all = planned(TR115, SERVERS).unwrap();
    let mut expected = configs(&all);
    assert!(expected.remove("anchor") && expected.len() == 6);
    assert_eq!(configs(&context()), expected);
    assert!(context().runs.iter().all(|run| run.work.paced().is_none()));
}

#[test]
fn the_best_agents_of_tr114_are_as_it_says() {
    let plan = planned(TR114, TR114_SERVERS).unwrap();
    let options = |config: &str| {
        let run = plan.runs.iter().find(|run| run.cell["config"] == config).unwrap();
        let agents = workload(run).agents;
        let of = |agent: usize| agents[agent].calls[0].options.clone();
        [0, 1].map(|agent| {
            let own = of(agent);
            (own.num_gpu.unwrap(), own.num_ctx.unwrap(), own.temperature.unwrap())
        })
    };
    assert_eq!(options("tr114_test011"), [(120, 512, 0.8), (140, 1024, 0.8)]);
    assert_eq!(options("tr114_v1"), [(80, 512, 1.0), (100, 1024, 1.0)]);
    assert_eq!(options("tr113"), [(80, 1024, 0.6); 2]);
    let servers: BTreeSet<usize> = plan.runs.iter().map(|run| run.work.servers()).collect();
    assert_eq!(servers, BTreeSet::from([1, 2]));
}

#[test]
fn version_1_asks_each_model_once_in_five_runs_of_each_runtime() {
    let plan = planned(V1, SERVERS).unwrap();
    let timed: Vec<_> = plan.runs.iter().filter(|run| !run.warmup).collect();
    // Five runtimes and the twin.
    assert_eq!(timed.len(), 6 * 5);
    for run in timed {
        assert!(workload(run).agents.iter().all(|agent| agent.calls.len() == 1));
    }
    let twice = V1.replace("calls = 1", "calls = 3");
    let refusal = planned(&twice, SERVERS).unwrap_err();
    assert!(refusal.ends_with("key `runtimes.calls`: must be 1 or 2"), "{refusal}");
}

#[test]
fn the_buffer_is_a_factor_and_changes_no_reply() {
    let plan = planned(BUFFER, SERVERS).unwrap();
    let mut sizes = BTreeSet::new();
    let mut by_place: BTreeMap<_, BTreeSet<Vec<i64>>> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| !run.warmup) {
        let workload = workload(run);
        let level = &run.cell["buffer"];
        assert_eq!(workload.piece_bytes, level.parse().ok(), "{level}");
        sizes.insert(workload.piece_bytes);
        let place = (run.block, run.cell["config"].clone());
        by_place.entry(place).or_default().insert(lengths(&workload));
    }
    let expected = [None, Some(32), Some(256), Some(1024), Some(8192), Some(65536)];
    assert_eq!(sizes, BTreeSet::from(expected));
    assert!(by_place.values().all(|lengths| lengths.len() == 1));
}

#[test]
fn agents_are_as_many_connections_as_a_cell_says() {
    let plan = planned(CONNECTIONS, SERVERS).unwrap();
    let mut counts = BTreeSet::new();
    let mut first_agents: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| !run.warmup) {
        let agents = workload(run).agents;
        assert_eq!(run.cell["agents"], agents.len().to_string());
        assert_eq!(run.work.servers(), agents.len(), "each has a connection of its own");
        assert_eq!(run.work.paced().unwrap()["mode"], "shared_gpu");
        counts.insert(agents.len());
        let lengths = agents[0].calls.iter().map(|call| call.options.num_predict);
        let known = first_agents.entry(run.block).or_insert_with(|| lengths.clone().collect());
        assert_eq!(*known, lengths.collect::<Vec<i64>>(), "others change nothing for an agent");
    }
    assert_eq!(counts, BTreeSet::from([1, 10, 100, 500]));
    let more = planned(&CONNECTIONS.replace("\"500\"", "\"501\""), SERVERS).unwrap_err();
    assert!(more.contains("`501`"), "{more}");
}

#[test]
fn levels_that_mean_nothing_are_named_with_file_and_key() {
    let buffer = planned(&BUFFER.replace("\"65536\"", "\"0\""), SERVERS).unwrap_err();
    assert!(buffer.contains("key `cells.buffer`: `0` is neither `library` nor"), "{buffer}");
    let text = TR115.replacen("arrangement =", "prompt = [\"long\"]\narrangement =", 1);
    let prompt = planned(&text, SERVERS).unwrap_err();
    assert!(prompt.contains("key `cells.prompt`: `long` is neither"), "{prompt}");
}
