//! A sweep that never ran: records with latencies that are known to the nanosecond.

use std::collections::BTreeMap;

use lab_record::{
    Analysis, Comparison, GitState, Machine, Noise, Pairing, Run, RunFile, Samples, Scale, Session,
    SessionEvent, Status, VariantEntry,
};
use lab_report::{Frame, Row};

pub const CONFIGS: [&str; 3] = ["chimera_hetero", "chimera_homo_ctx512", "chimera_homo_gpu100"];

/// A variant that exists only here.
#[derive(Clone)]
pub struct Fake {
    pub name: &'static str,
    pub twin_of: Option<&'static str>,
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
        Self { name, twin_of: None, serial: false, slowness: 1.0, noise: 0.0005, lag_ns: 30_000 }
    }

    pub fn twin(of: &'static str) -> Self {
        Self { twin_of: Some(of), ..Self::named("twin") }
    }
}

/// What is to be made up.
pub struct Sweep {
    pub variants: Vec<Fake>,
    pub blocks: u32,
    pub pairing: Pairing,
    pub comparisons: Vec<Comparison>,
}

impl Sweep {
    pub fn of(variants: Vec<Fake>, blocks: u32) -> Self {
        Self { variants, blocks, pairing: Pairing::Paired, comparisons: vec![wall(0.01)] }
    }

    pub fn frame(&self) -> Frame {
        let mut rows = Vec::new();
        for block in 0..self.blocks {
            for config in CONFIGS {
                for fake in &self.variants {
                    for solo in [true, false] {
                        let order = rows.len() as u64;
                        rows.push(run_of(fake, block, config, solo, order));
                    }
                }
            }
        }
        for fake in &self.variants {
            let order = rows.len() as u64;
            let mut probe = blank(fake, 0, order, BTreeMap::from([pair("probe", "startup")]));
            probe.counters.insert("startup_ns".into(), 1_500_000);
            rows.push(Row { run: probe, samples: Samples::default() });
        }
        Frame { run_file: self.run_file(rows.len() as u64), sessions: sessions(), rows }
    }

    fn run_file(&self, runs_planned: u64) -> RunFile {
        let published =
            "[published.async_std]\npeak = 50.0\nmean = 50.0\nmedian = 50.0\nsd = 0.0\n";
        RunFile {
            schema: 1,
            experiment: "made-up".into(),
            experiment_file: "experiments/made-up.toml".into(),
            profile: None,
            servers: vec![],
            model: None,
            experiment_toml: String::new(),
            attachments: BTreeMap::from([pair("servers", published)]),
            experiment_sha256: "00ff".into(),
            arguments: vec!["run".into(), "experiments/made-up.toml".into()],
            analysis: Analysis {
                reference: "tokio_default".into(),
                floor: Some("floor".into()),
                pairing: self.pairing,
                alpha: 0.05,
                comparisons: self.comparisons.clone(),
                contrasts: vec![],
            },
            seed: 7,
            blocks: self.blocks,
            runs_planned,
            git: Some(GitState { commit: "abc123".into(), dirty: false }),
            variants: self.variants.iter().map(entry).collect(),
            machine: Machine {
                cpu_model: "Imaginary 2000".into(),
                cpus: 2,
                memory_bytes: 8 << 30,
                kernel: "6.1".into(),
                arch: "x86_64".into(),
            },
            started_unix_s: 0,
        }
    }
}

pub fn wall(margin: f64) -> Comparison {
    on("wall_ns", Scale::Ratio, margin)
}

pub fn on(metric: &str, scale: Scale, margin: f64) -> Comparison {
    let cells = BTreeMap::from([("arrangement".to_owned(), vec!["concurrent".to_owned()])]);
    Comparison { metric: metric.to_owned(), cells, scale, margin }
}

fn entry(fake: &Fake) -> VariantEntry {
    VariantEntry {
        variant: fake.name.into(),
        family: "runtimes".into(),
        twin_of: fake.twin_of.map(str::to_owned),
        measures: "nothing".into(),
        version: "1.0.0".into(),
        features: vec![],
        tags: vec![],
        binary_sha256: format!("sha-of-{}", fake.twin_of.unwrap_or(fake.name)),
        binary_bytes: 2_000_000,
    }
}

fn sessions() -> Vec<Session> {
    let environment = BTreeMap::from([("pinning".to_owned(), "none: 2 CPUs".into())]);
    vec![Session { schema: 1, event: SessionEvent::Start, unix_s: 0, environment }]
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

fn blank(fake: &Fake, block: u32, order: u64, cell: BTreeMap<String, String>) -> Run {
    Run {
        schema: 1,
        order,
        attempt: 0,
        block,
        warmup: false,
        family: "runtimes".into(),
        variant: fake.name.into(),
        cell,
        status: Status::Ok,
        reason: None,
        verified: true,
        binary_sha256: String::new(),
        start_ns: 0,
        process_ns: 0,
        counters: BTreeMap::new(),
        noise: Noise::default(),
        gated: vec![],
        gpu: None,
        gpu_reason: None,
        samples: None,
    }
}

/// Two agents with one call each on one GPU: 24 µs a token together, 10 µs alone (1/1000 of the
/// real pace), after 20 µs of prefill.
fn run_of(fake: &Fake, block: u32, config: &str, solo: bool, order: u64) -> Row {
    let alone = solo || fake.serial;
    let jitter = 1.0 + fake.noise * (2.0 * unit_draw(&[order, 99]) - 1.0);
    let pace = if alone { 10_000.0 } else { 24_000.0 } * fake.slowness * jitter;
    let tokens: Vec<i64> = (0..2).map(|agent| length(block, config, agent)).collect();
    let mut columns: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut put = |name: &str, value: i64| columns.entry(name.into()).or_default().push(value);
    let mut clock = 0;
    let mut wall = 0;
    for (agent, &count) in tokens.iter().enumerate() {
        let start = clock;
        let first = start + 20_000;
        let at = |token: i64| first + (token as f64 * pace) as i64;
        let end = at(count - 1) + 5_000;
        put("agent_start_ns", start);
        put("agent_end_ns", end);
        put("call_agent", agent as i64);
        put("call_start_ns", start);
        put("call_first_token_ns", first);
        put("call_last_token_ns", at(count - 1));
        put("call_tokens", count);
        put("call_eval_count", count);
        put("call_eval_ns", at(count - 1) - first);
        put("server_received_ns", start + 1_000);
        put("server_done_sent_ns", end - 1_000);
        for token in 0..count {
            put("token_received_ns", at(token));
            put("token_sent_ns", at(token) - fake.lag_ns - token % 7 * 100);
        }
        wall = wall.max(end);
        clock = if alone { end } else { 0 };
    }
    let arrangement = if solo { "solo" } else { "concurrent" };
    let cell = BTreeMap::from([pair("config", config), pair("arrangement", arrangement)]);
    let mut run = blank(fake, block, order, cell);
    let total: i64 = tokens.iter().sum();
    run.counters = [
        ("wall_ns", wall),
        ("cpu_streaming_ns", 12_000 * total),
        ("cpu_startup_ns", 900_000),
        ("voluntary_switches", total),
        ("involuntary_switches", 1),
        ("rss_high_water_bytes", 4 << 20),
        ("threads", 3),
        ("server_pacing_error_p99_ns", 2_000),
        ("server_time_scale_ppm", 1_000),
    ]
    .map(|(name, value)| (name.to_owned(), value as u64))
    .into();
    Row { run, samples: Samples::from_raw(columns) }
}

/// Equal for all variants, as controlled lengths are; block 1 has one runaway reply.
fn length(block: u32, config: &str, agent: u64) -> i64 {
    let runaway = block == 1 && config == "chimera_hetero" && agent == 0;
    let place = config.bytes().map(u64::from).sum::<u64>();
    if runaway { 200 } else { 40 + (20.0 * unit_draw(&[u64::from(block), place, agent])) as i64 }
}

/// A number in [0, 1) from its address (SplitMix64).
pub fn unit_draw(address: &[u64]) -> f64 {
    let mix = |seed: u64, part: &u64| {
        let mut z = seed.wrapping_add(*part).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    (address.iter().fold(1, mix) >> 11) as f64 / (1_u64 << 53) as f64
}
