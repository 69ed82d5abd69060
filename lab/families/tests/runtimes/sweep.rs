//! Sweeps of agents whose times are known to the nanosecond.

use std::collections::BTreeMap;

use lab_family::Places;
use lab_plan::PlannedRun;
use lab_protocol::runtimes::{Arrangement, Workload};
use proof_kit::world::{Made, World, noise};

/// Three configurations, the last two of which are one treatment.
pub const EXPERIMENT: &str = r#"
    schema = 1
    name = "made-up"
    question = "Does the runtime matter?"
    family = "runtimes"
    seed = 7
    blocks = 6
    [variants]
    tags = ["tr115"]
    twin = "tokio_default"
    [[cells]]
    config = ["hetero", "ctx512", "gpu100"]
    arrangement = ["concurrent", "solo"]
    [analysis]
    reference = "tokio_default"
    pairing = "paired"
    alpha = 0.05
    [[analysis.comparisons]]
    metric = "wall_ns"
    scale = "ratio"
    margin = 0.01
    cells = { arrangement = ["concurrent"] }
    [[expect]]
    id = "score"
    kind = "published"
    says = "tokio-default reaches 97 % efficiency"
    published = "98.72 % mean"
    cells = { arrangement = "concurrent" }
    value = { variant = "tokio_default", metric = "efficiency_as_published" }
    at_least = 0.97
    [runtimes]
    mode = "controlled"
    servers = "paced"
    table = "tables/servers.toml"
    agents = 2
    model = "paced"
    time_scale = 0.001
    stall_timeout_ms = 10_000
    ingest_files = 1
    ingest_file_bytes = 1
"#;

/// A variant that exists only here.
#[derive(Clone)]
pub struct Fake {
    pub name: &'static str,
    /// Runs the agents one after the other, whatever was asked.
    pub serial: bool,
    /// Multiplies every duration.
    pub slowness: f64,
    /// Relative noise of a run, uniform within ± this.
    pub noise: f64,
    pub lag_ns: i64,
}

impl Fake {
    pub fn named(name: &'static str) -> Self {
        Self { name, serial: false, slowness: 1.0, noise: 0.0005, lag_ns: 30_000 }
    }

    pub fn serial(name: &'static str) -> Self {
        Self { serial: true, ..Self::named(name) }
    }
}

/// The reference, whose twin the plan adds, and others.
pub fn with_reference(others: impl IntoIterator<Item = Fake>) -> Vec<Fake> {
    std::iter::once(Fake::named("tokio_default")).chain(others).collect()
}

pub fn world(experiment: &str, fakes: &[Fake]) -> World {
    let names: Vec<&str> = fakes.iter().map(|fake| fake.name).collect();
    let mut world = World::of(experiment, &["tr115"], &names);
    for (name, tags) in &mut world.variants {
        if name.ends_with("_as_published") {
            tags.push("as-published".to_owned());
        }
    }
    world.attachments = BTreeMap::from([("servers".to_owned(), table())]);
    world
}

/// One of a variant's runs. A twin that is not among the fakes is its original.
pub fn made(fakes: &[Fake], run: &PlannedRun) -> Made {
    let named = |name: &str| fakes.iter().find(|fake| fake.name == name);
    let original = run.variant.trim_end_matches("_twin");
    result(named(&run.variant).or(named(original)).expect("a fake"), run)
}

fn table() -> String {
    let row = |name: &str, ttft: f64| {
        format!(
            "[config.{name}]\ntitle = \"{name}\"\nnum_gpu = [-1]\nnum_ctx = [-1]\n\
             temperature = 1.0\nttft_ms = {{ median = {ttft:.1}, sigma_log = 0.1 }}\n\
             rate_tokens_per_s = [100.0, 41.0]\nitl_sigma_log = 0.05\n\
             reply_tokens = {{ probability = [0.0, 0.9, 1.0], tokens = [40, 60, 200] }}\n\
             first_call_share = 0.5\nrows = 0\n"
        )
    };
    let published = "[published.async_std]\npeak = 50.0\nmean = 50.0\n\
                     mean_by_config = { hetero = 50.0, ctx512 = 50.0, gpu100 = 50.0 }\n";
    let rows = [row("hetero", 150.0), row("ctx512", 100.0), row("gpu100", 100.0)];
    format!("schema = 1\n{}{published}", rows.concat())
}

/// Agents on one GPU: 24 µs a token together, 10 µs alone (1/1000 of the real pace), after 20 µs
/// of prefill.
fn result(fake: &Fake, run: &PlannedRun) -> Made {
    let workload = run.work.workload(&Places::default());
    let workload: Workload = serde_json::from_value(workload).expect("a workload");
    let alone = fake.serial || workload.arrangement == Arrangement::Solo;
    let pace = if alone { 10_000.0 } else { 24_000.0 } * fake.slowness * noise(fake.noise, run);
    let mut columns: BTreeMap<&'static str, Vec<i64>> = BTreeMap::new();
    let mut put = |name: &'static str, value: i64| columns.entry(name).or_default().push(value);
    let (mut clock, mut wall, mut total) = (0, 0, 0);
    for (index, agent) in workload.agents.iter().enumerate() {
        let start = clock;
        for call in &agent.calls {
            let tokens = call.options.num_predict;
            let first = clock + 20_000;
            let at = |token: i64| first + (token as f64 * pace) as i64;
            let (last, end) = (at(tokens - 1), at(tokens - 1) + 5_000);
            put("call_agent", index as i64);
            put("call_start_ns", clock);
            put("call_first_token_ns", first);
            put("call_last_token_ns", last);
            put("call_tokens", tokens);
            put("call_eval_count", tokens);
            put("call_eval_ns", last - first);
            put("call_server_total_ns", end - clock - 2_000);
            put("call_prompt_eval_count", 20 + index as i64);
            put("call_thread", index as i64);
            put("server_received_ns", clock + 1_000);
            put("server_done_sent_ns", end - 1_000);
            for token in 0..tokens {
                put("token_received_ns", at(token));
                put("token_sent_ns", at(token) - fake.lag_ns - token % 7 * 100);
            }
            total += tokens;
            clock = end;
        }
        put("agent_start_ns", start);
        put("agent_end_ns", clock);
        put("agent_migrations", 2);
        wall = wall.max(clock);
        clock = if alone { clock } else { 0 };
    }
    let count = |value: i64| u64::try_from(value).expect("no negative count");
    let counters = vec![
        ("wall_ns", count(wall)),
        ("cpu_streaming_ns", count(12_000 * total)),
        ("cpu_startup_ns", 900_000),
        ("voluntary_switches", count(total)),
        ("involuntary_switches", 1),
        ("rss_high_water_bytes", 4 << 20),
        ("threads", 3),
        ("queue_depth_max", 2),
        ("queue_depth_sum", 30),
        ("queue_depth_samples", 60),
        ("server_pacing_error_p99_ns", 2_000),
    ];
    Made { counters, columns: columns.into_iter().collect(), ..Made::default() }
}
