//! Tests of scheduling policies that never ran: every sample follows from a formula.

use std::collections::BTreeMap;

use lab_record::{
    Analysis, Comparison, GitState, Machine, Noise, Pairing, Run, RunFile, Samples, Scale, Session,
    SessionEvent, Status, VariantEntry,
};
use lab_report::{Frame, Row};

/// Steps of a replay.
const STEPS: u64 = 1_000;
/// Steps between two changes of the costs.
const SHIFT_STEPS: u64 = 250;
const TICKS: i64 = 1_000;

/// What is planted in one policy.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    pub choose_ns: f64,
    pub cycle_ns: f64,
    pub cold_ns: f64,
    /// What two deciders at once pay, as a multiple of one.
    pub contention: f64,
    /// Steps from the start or a change until it takes the better arm.
    pub late: u64,
    /// The same back to inline.
    pub late_back: u64,
    /// Whether it takes the better arm where inline costs 240 us and offloading 30 us.
    pub sees_240: bool,
    /// Mixed items/s, of the oracle's.
    pub throughput: f64,
    /// The P99 of ticks under 3 ms of work, in microseconds.
    pub tick_us: f64,
    /// The same beside jobs that follow each other.
    pub pressure_us: f64,
}

/// Who ran, in the order of the sweep.
pub const POLICIES: [&str; 8] = [
    "always_inline",
    "always_inline_twin",
    "always_offload",
    "threshold",
    "ewma",
    "thompson",
    "loom_rs",
    "oracle",
];

/// What is planted.
#[derive(Debug, Clone)]
pub struct World {
    pub blocks: u32,
    /// Relative noise of a run, uniform within ± this.
    pub noise: f64,
    pub thompson: Policy,
    pub loom_rs: Policy,
    pub always_inline: Policy,
    pub always_offload: Policy,
}

const THOMPSON: Policy = Policy {
    choose_ns: 20.0,
    cycle_ns: 60.0,
    cold_ns: 90.0,
    contention: 1.1,
    late: 5,
    late_back: 12,
    sees_240: true,
    throughput: 0.96,
    tick_us: 210.0,
    pressure_us: 310.0,
};

impl Default for World {
    fn default() -> Self {
        Self {
            blocks: 8,
            noise: 0.01,
            thompson: THOMPSON,
            loom_rs: Policy {
                choose_ns: 110.0,
                cycle_ns: 180.0,
                cold_ns: 210.0,
                contention: 4.0,
                late: 7,
                late_back: u64::MAX,
                sees_240: false,
                throughput: 0.8,
                tick_us: 215.0,
                pressure_us: 330.0,
            },
            always_inline: Policy {
                choose_ns: 2.0,
                cycle_ns: 3.0,
                cold_ns: 2.5,
                contention: 1.0,
                throughput: 0.7,
                tick_us: 2_900.0,
                pressure_us: 9_000.0,
                ..THOMPSON
            },
            always_offload: Policy {
                choose_ns: 2.0,
                cycle_ns: 3.0,
                cold_ns: 2.5,
                contention: 1.0,
                throughput: 0.5,
                tick_us: 200.0,
                pressure_us: 300.0,
                ..THOMPSON
            },
        }
    }
}

pub type Levels = BTreeMap<String, String>;

/// The defaults with some levels changed.
pub fn cell(changes: &[(&str, &str)]) -> Levels {
    let base = [
        ("test", "decide"),
        ("part", "choose"),
        ("deciders", "1"),
        ("costs", "steady_small"),
        ("work", "mixed"),
        ("concurrency", "1"),
        ("order", "ordered"),
        ("load", "block_3ms"),
        ("tokio_workers", "1"),
        ("rayon_threads", "2"),
    ];
    let levels = base.iter().chain(changes);
    levels.map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect()
}

const COSTS: [&str; 5] = ["steady_small", "inline_240_offload_30", "slow", "shift", "bimodal"];

impl World {
    pub fn frame(&self) -> Frame {
        let mut rows = Vec::new();
        for block in 0..self.blocks {
            for variant in POLICIES {
                for cell in places() {
                    let order = rows.len() as u64;
                    rows.push(self.run(variant, cell, block, order));
                }
            }
        }
        Frame { run_file: self.run_file(rows.len() as u64), sessions: sessions(), rows }
    }

    fn policy(&self, variant: &str) -> Policy {
        match variant {
            "loom_rs" => self.loom_rs,
            "always_inline" | "always_inline_twin" => self.always_inline,
            "always_offload" => self.always_offload,
            "oracle" => Policy { late: 0, late_back: 0, throughput: 1.0, ..THOMPSON },
            "threshold" => Policy { throughput: 0.9, late: 0, sees_240: false, ..THOMPSON },
            "ewma" => Policy { throughput: 0.94, late: 30, late_back: 40, ..THOMPSON },
            _ => self.thompson,
        }
    }

    fn run(&self, variant: &'static str, cell: Levels, block: u32, order: u64) -> Row {
        let noise = 1.0 + self.noise * (2.0 * unit_draw(&[order, 7]) - 1.0);
        let policy = self.policy(variant);
        let (columns, mut counters) = match cell["test"].as_str() {
            "decide" => (decide(policy, &cell, noise), BTreeMap::new()),
            "replay" => replay(policy, variant, &cell["costs"], block),
            "stream" => stream(policy, variant, &cell, noise),
            _ => wake(policy, variant, &cell, noise),
        };
        counters.insert("offload_round_trip_ns".into(), 12_000);
        counters.insert("rss_high_water_bytes".into(), 8 << 20);
        let columns = columns.into_iter().map(|(name, values)| (name.to_owned(), values));
        Row {
            run: blank(variant, cell, block, order, counters),
            samples: Samples::from_raw(columns.collect()),
        }
    }

    fn run_file(&self, runs_planned: u64) -> RunFile {
        RunFile {
            schema: 1,
            experiment: "made-up-offload".into(),
            experiment_file: "experiments/made-up-offload.toml".into(),
            profile: None,
            servers: vec![],
            model: None,
            experiment_toml: defaults(),
            attachments: BTreeMap::new(),
            experiment_sha256: "00ff".into(),
            arguments: vec!["run".into(), "experiments/made-up-offload.toml".into()],
            analysis: analysis(),
            seed: 7,
            blocks: self.blocks,
            runs_planned,
            git: Some(GitState { commit: "abc123".into(), dirty: false }),
            variants: POLICIES.map(entry).into(),
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

fn places() -> Vec<Levels> {
    let mut places = Vec::new();
    for part in ["choose", "cycle", "cold"] {
        places.push(cell(&[("part", part)]));
    }
    places.push(cell(&[("deciders", "2")]));
    places.extend(COSTS.map(|costs| cell(&[("test", "replay"), ("costs", costs)])));
    for work in ["fast", "slow", "mixed"] {
        places.push(cell(&[("test", "stream"), ("work", work)]));
    }
    let many = [("test", "stream"), ("concurrency", "4"), ("order", "unordered")];
    places.push(cell(&many));
    for threads in [("1", "2"), ("2", "1")] {
        places.push(cell(&[
            ("test", "stream"),
            ("concurrency", "4"),
            ("tokio_workers", threads.0),
            ("rayon_threads", threads.1),
        ]));
    }
    for load in ["idle", "block_3ms", "closed_4", "closed_80"] {
        places.push(cell(&[("test", "wake"), ("load", load)]));
    }
    places.push(cell(&[("test", "wake"), ("tokio_workers", "2")]));
    places
}

type Columns = Vec<(&'static str, Vec<i64>)>;
type Counters = BTreeMap<String, u64>;

fn decide(policy: Policy, cell: &Levels, noise: f64) -> Columns {
    let deciders: i64 = cell["deciders"].parse().unwrap();
    let call = match cell["part"].as_str() {
        "choose" => policy.choose_ns,
        "cycle" => policy.cycle_ns,
        _ => policy.cold_ns,
    };
    let call = if deciders > 1 { call * policy.contention } else { call };
    let batch = (call * noise * 10_000.0) as i64;
    let rows = 3 * deciders;
    vec![
        ("decider", (0..rows).map(|row| row % deciders).collect()),
        ("calls", vec![10_000; rows as usize]),
        ("batch_ns", (0..rows).map(|row| batch + row - rows / 2).collect()),
    ]
}

/// What inline and offloading cost at a step, in nanoseconds.
fn costs_at(costs: &str, step: u64, block: u32) -> (i64, i64) {
    let draw = unit_draw(&[step, u64::from(block), 3]);
    let jitter = (draw * 1_000.0) as i64;
    match costs {
        "steady_small" => (5_000 + jitter, 15_000),
        "inline_240_offload_30" => (240_000 + jitter, 30_000),
        "slow" => (5_000_000 + jitter, 60_000),
        "shift" if (step / SHIFT_STEPS).is_multiple_of(2) => (20_000 + jitter, 60_000),
        "shift" => (500_000 + jitter, 60_000),
        _ if draw < 0.1 => (1_000_000, 40_000),
        _ => (10_000, 40_000),
    }
}

/// A policy follows the better arm so many steps late; a bimodal cost is offloaded, for nobody but
/// the oracle knows which it will be.
fn replay(policy: Policy, variant: &str, costs: &str, block: u32) -> (Columns, Counters) {
    let (mut arms, mut paid, mut regret) = (vec![], vec![], vec![]);
    let (mut since, mut last) = (0, false);
    for step in 0..STEPS {
        let (inline, offload) = costs_at(costs, step, block);
        let better = offload < inline;
        since = if better == last && step > 0 { since + 1 } else { 0 };
        last = better;
        let late = if better { policy.late } else { policy.late_back };
        let first = costs != "shift" || step < SHIFT_STEPS;
        let arm = match (variant, costs) {
            ("always_inline" | "always_inline_twin", _) => false,
            ("always_offload", _) => true,
            ("oracle", _) => better,
            (_, "bimodal") => true,
            (_, "inline_240_offload_30") => policy.sees_240 && since >= policy.late,
            // Everyone starts inline.
            _ if first => better && since >= policy.late,
            _ => (since >= late) == better,
        };
        let (own, other) = if arm { (offload, inline) } else { (inline, offload) };
        arms.push(i64::from(arm));
        paid.push(own);
        regret.push((own - other).max(0));
    }
    let offloaded = arms.iter().filter(|arm| **arm == 1).count() as u64;
    let mut counters = decisions(variant, STEPS - offloaded, offloaded);
    if variant == "loom_rs" {
        counters.insert("gr1_activations".into(), offloaded);
    }
    (vec![("arm", arms), ("cost_ns", paid), ("regret_ns", regret)], counters)
}

fn stream(policy: Policy, variant: &str, cell: &Levels, noise: f64) -> (Columns, Counters) {
    let (oracle_ns, share) = match cell["work"].as_str() {
        "fast" => (1_000_000.0, 0.0),
        "slow" => (50_000_000.0, 1.0),
        _ => (10_000_000.0, 0.3),
    };
    let share = match variant {
        "always_inline" | "always_inline_twin" => 0.0,
        "always_offload" => 1.0,
        _ => share,
    };
    // Several in flight are done twice as fast.
    let lanes = if cell["concurrency"] == "1" { 1.0 } else { 2.0 };
    let elapsed = (oracle_ns / lanes / policy.throughput / noise) as i64;
    let offloaded = (100.0 * share) as i64;
    let class = |item: i64| i64::from(item >= 90);
    let columns = vec![
        ("elapsed_ns", vec![elapsed - 10, elapsed, elapsed + 500]),
        ("cpu_ns", vec![elapsed; 3]),
        ("inline_items", vec![100 - offloaded; 3]),
        ("offload_items", vec![offloaded; 3]),
        ("answer", vec![11; 3]),
        ("item_class", (0..100).map(class).collect()),
        ("item_work_ns", (0..100).map(|item| 5_000 + 495_000 * class(item) + item).collect()),
        ("item_arm", (0..100).map(|item| i64::from(item >= 100 - offloaded)).collect()),
    ];
    let mut counters = decisions(variant, 300 - 3 * offloaded as u64, 3 * offloaded as u64);
    counters.insert("work_measured_ns".into(), 5_010);
    (columns, counters)
}

fn wake(policy: Policy, variant: &str, cell: &Levels, noise: f64) -> (Columns, Counters) {
    let load = cell["load"].as_str();
    let (p99, jobs) = match load {
        "idle" => (50.0, 0),
        "block_3ms" => (policy.tick_us, 200),
        _ => (policy.pressure_us, 2_000),
    };
    // Nearest rank: the 990th of 1,000 is the P99 that was planted.
    let tick = |place: i64| (1e3 * p99 * noise * place as f64 / 990.0) as i64;
    let offloaded = if variant.starts_with("always_inline") { 0 } else { jobs };
    let mut counters = decisions(variant, jobs - offloaded, offloaded);
    counters.extend([
        ("ticks_intended".to_owned(), TICKS as u64),
        ("jobs_started".to_owned(), jobs),
        ("elapsed_ns".to_owned(), 1_000_000_000),
        ("cpu_total_ns".to_owned(), 500_000_000),
        ("block_longest_ns".to_owned(), if offloaded == jobs { 2_000 } else { 3_000_000 }),
        ("work_measured_ns".to_owned(), 3_000_100),
    ]);
    if variant == "loom_rs" {
        counters.insert("gr1_activations".into(), jobs);
        counters.insert("gr2_activations".into(), 0);
        counters.insert("gr3_activations".into(), 0);
    }
    let job = |place: u64| 1_000 * (100 + place as i64);
    let columns = vec![
        ("tick_latency_ns", (1..=TICKS).map(tick).collect()),
        ("job_latency_ns", (0..jobs).map(job).collect()),
        ("job_work_ns", vec![3_000_000; jobs as usize]),
        ("job_arm", vec![i64::from(offloaded == jobs); jobs as usize]),
    ];
    (columns, counters)
}

fn decisions(variant: &str, inline: u64, offload: u64) -> Counters {
    let mut counters = BTreeMap::from([
        ("decisions_inline".to_owned(), inline),
        ("decisions_offload".to_owned(), offload),
    ]);
    if variant == "thompson" {
        for guardrail in 0..4 {
            counters.insert(format!("gr{guardrail}_activations"), guardrail);
        }
        counters.insert("strikes".into(), 1);
    }
    counters
}

fn defaults() -> String {
    let levels = cell(&[]).into_iter().filter(|(factor, _)| factor != "test");
    let lines = levels.map(|(factor, level)| format!("{factor} = \"{level}\"\n"));
    format!("[offload.defaults]\n{}", lines.collect::<String>())
}

fn analysis() -> Analysis {
    let compared = |metric: &str, levels: &[(&str, &str)]| Comparison {
        metric: metric.into(),
        cells: levels
            .iter()
            .map(|(factor, level)| ((*factor).to_owned(), vec![(*level).to_owned()]))
            .collect(),
        scale: Scale::Ratio,
        margin: 0.05,
    };
    let warm = [("test", "decide"), ("part", "choose"), ("deciders", "1")];
    Analysis {
        reference: "thompson".into(),
        floor: Some("always_inline".into()),
        pairing: Pairing::Paired,
        alpha: 0.05,
        comparisons: vec![
            compared("items_per_s", &[("test", "stream"), ("work", "mixed")]),
            compared("choose_ns", &warm),
            compared("tick_p99_ns", &[("test", "wake"), ("load", "block_3ms")]),
        ],
        contrasts: vec![],
    }
}

fn entry(variant: &str) -> VariantEntry {
    let twin_of = variant.strip_suffix("_twin");
    VariantEntry {
        variant: variant.into(),
        family: "schedulers".into(),
        twin_of: twin_of.map(str::to_owned),
        measures: "nothing".into(),
        version: "1.0.0".into(),
        features: vec![],
        tags: vec![],
        binary_sha256: format!("sha-of-{}", twin_of.unwrap_or(variant)),
        binary_bytes: 2_000_000,
    }
}

fn sessions() -> Vec<Session> {
    let environment = BTreeMap::from([("pinning".to_owned(), "none: 2 CPUs".into())]);
    vec![Session { schema: 1, event: SessionEvent::Start, unix_s: 0, environment }]
}

fn blank(
    variant: &str,
    cell: Levels,
    block: u32,
    order: u64,
    counters: BTreeMap<String, u64>,
) -> Run {
    Run {
        schema: 1,
        order,
        attempt: 0,
        block,
        warmup: false,
        family: "schedulers".into(),
        variant: variant.into(),
        cell,
        status: Status::Ok,
        reason: None,
        verified: true,
        binary_sha256: String::new(),
        start_ns: 0,
        process_ns: 0,
        counters,
        noise: Noise::default(),
        gated: vec![],
        gpu: None,
        gpu_reason: None,
        samples: None,
    }
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
