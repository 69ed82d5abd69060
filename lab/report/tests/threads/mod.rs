//! A sweep over workers that never ran: every time follows from a formula.

use std::collections::BTreeMap;

use lab_record::{
    Analysis, Comparison, Contrast, GitState, Machine, Noise, Pairing, Run, RunFile, Samples,
    Scale, Session, SessionEvent, Status, VariantEntry,
};
use lab_report::{Frame, Row};

/// CPUs of the machine that is made up.
pub const CPUS: u32 = 2;

/// What is planted. A transaction takes 50 ns and its busy work, spread evenly over as many workers
/// as there are CPUs and streams.
#[derive(Clone)]
pub struct World {
    pub blocks: u32,
    /// Relative noise of a run, uniform within ± this.
    pub noise: f64,
    /// What each worker beyond the CPUs adds, whatever the variant keeps.
    pub extra_worker_ns: f64,
    /// What `dashmap` alone loses by each worker beyond the CPUs.
    pub lock_ns: f64,
    /// Whether more shards take that loss away.
    pub shards_help: bool,
    /// What a second worker adds, so that little work is better done by one.
    pub second_worker_ns: f64,
    /// Whether levels of worker counts go up to eight on a machine with as many CPUs.
    pub cpus: u32,
}

impl Default for World {
    fn default() -> Self {
        Self {
            blocks: 8,
            noise: 0.002,
            extra_worker_ns: 10_000.0,
            lock_ns: 0.0,
            shards_help: false,
            second_worker_ns: 20_000.0,
            cpus: CPUS,
        }
    }
}

pub type Levels = BTreeMap<String, String>;

/// The published cell with some levels changed.
pub fn cell(changes: &[(&str, &str)]) -> Levels {
    let base = [
        ("contention", "disjoint"),
        ("kinds", "deposits"),
        ("transactions", "100"),
        ("streams", "100"),
        ("work_ns", "0"),
        ("workers", "1"),
        ("pinned", "off"),
        ("spawn", "stream"),
        ("shards", "library"),
        ("locks", "plain"),
    ];
    let levels = base.iter().chain(changes);
    levels.map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect()
}

const WORKERS: [&str; 6] = ["1", "2", "4", "64", "current_thread", "default"];

impl World {
    pub fn frame(&self) -> Frame {
        let mut rows = Vec::new();
        for block in 0..self.blocks {
            for (variant, cell) in self.places() {
                let order = rows.len() as u64;
                rows.push(self.run(variant, cell, block, order));
            }
        }
        Frame { run_file: self.run_file(rows.len() as u64), sessions: sessions(), rows }
    }

    /// Who runs where.
    fn places(&self) -> Vec<(&'static str, Levels)> {
        let mut places = Vec::new();
        let workers = WORKERS.into_iter().chain((self.cpus > CPUS).then_some("8"));
        for workers in workers {
            for streams in ["1", "100", "1000"] {
                for variant in ["dashmap", "owned", "empty"] {
                    places.push((variant, cell(&[("streams", streams), ("workers", workers)])));
                }
            }
        }
        for streams in ["1", "100", "1000"] {
            places.push(("sync", cell(&[("streams", streams)])));
        }
        for (work, workers) in
            ["0", "500", "50000"].iter().flat_map(|work| ["1", "2", "64"].map(|n| (*work, n)))
        {
            let changes = [("transactions", "10"), ("work_ns", work), ("workers", workers)];
            for variant in ["dashmap", "owned"] {
                places.push((variant, cell(&changes)));
            }
        }
        for (contention, workers) in
            ["disjoint", "hot"].iter().flat_map(|level| ["1", "2"].map(|n| (*level, n)))
        {
            let long = [("transactions", "1000"), ("contention", contention), ("workers", workers)];
            for variant in ["dashmap", "dashmap_twin", "owned"] {
                places.push((variant, cell(&long)));
            }
            if workers == "1" {
                places.push(("empty", cell(&long)));
            }
        }
        places.push(("dashmap", cell(&[("workers", "64"), ("shards", "1024")])));
        places.push(("dashmap", cell(&[("workers", "2"), ("pinned", "on")])));
        places.push(("dashmap", cell(&[("workers", "64"), ("locks", "watched")])));
        places
    }

    /// The formula.
    pub fn elapsed_ns(&self, variant: &str, cell: &Levels) -> f64 {
        let number = |factor: &str| cell[factor].parse::<f64>().unwrap();
        let (streams, transactions) = (number("streams"), number("transactions"));
        let workers = match cell["workers"].as_str() {
            "current_thread" => 1.0,
            "default" => f64::from(self.cpus),
            count => count.parse::<f64>().unwrap(),
        };
        let each = if variant == "empty" { 1.0 } else { 50.0 } + number("work_ns");
        let hot = cell["contention"] == "hot" && variant != "owned";
        let lanes = if hot { 1.0 } else { workers.min(f64::from(self.cpus)).min(streams) };
        let runtime = if variant == "sync" { 0.0 } else { 5_000.0 };
        let beyond = (workers - f64::from(self.cpus)).max(0.0);
        let freed = self.shards_help && cell["shards"] != "library";
        let lock = if variant == "dashmap" && !freed { self.lock_ns } else { 0.0 };
        runtime
            + streams * transactions * each / lanes
            + if workers > 1.0 { self.second_worker_ns } else { 0.0 }
            + beyond * (self.extra_worker_ns + lock)
    }

    fn run(&self, variant: &'static str, cell: Levels, block: u32, order: u64) -> Row {
        let noise = 1.0 + self.noise * (2.0 * unit_draw(&[order, 7]) - 1.0);
        let elapsed = (self.elapsed_ns(variant.trim_end_matches("_twin"), &cell) * noise) as i64;
        let columns = [
            ("elapsed_ns", vec![elapsed - 5, elapsed, elapsed + 900]),
            ("teardown_ns", vec![1_000, 1_000, 1_000]),
            ("cpu_ns", vec![elapsed, elapsed, elapsed]),
            ("voluntary_switches", vec![3, 4, 5]),
            ("involuntary_switches", vec![0, 0, 0]),
            ("answer_hash", vec![11, 11, 11]),
        ];
        let mut columns: BTreeMap<String, Vec<i64>> =
            columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect();
        if cell["locks"] == "watched" {
            columns.insert("lock_wait_ns".into(), vec![elapsed; 3]);
            columns.insert("lock_waits".into(), vec![20; 3]);
        }
        let workers = cell["workers"].parse().unwrap_or(u64::from(self.cpus));
        let counters = BTreeMap::from([("workers".into(), workers), ("shards".into(), 8)]);
        Row {
            run: blank(variant, cell, block, order, counters),
            samples: Samples::from_raw(columns),
        }
    }

    fn run_file(&self, runs_planned: u64) -> RunFile {
        RunFile {
            schema: 1,
            experiment: "made-up-threads".into(),
            experiment_file: "experiments/made-up-threads.toml".into(),
            profile: None,
            servers: vec![],
            model: None,
            experiment_toml: String::new(),
            attachments: BTreeMap::new(),
            experiment_sha256: "00ff".into(),
            arguments: vec!["run".into(), "experiments/made-up-threads.toml".into()],
            analysis: analysis(),
            seed: 7,
            blocks: self.blocks,
            runs_planned,
            git: Some(GitState { commit: "abc123".into(), dirty: false }),
            variants: ["dashmap", "dashmap_twin", "owned", "sync", "empty"].map(entry).into(),
            machine: Machine {
                cpu_model: "Imaginary 2000".into(),
                cpus: self.cpus,
                memory_bytes: 8 << 30,
                kernel: "6.1".into(),
                arch: "x86_64".into(),
            },
            started_unix_s: 0,
        }
    }
}

fn analysis() -> Analysis {
    let long = |contention: &str| {
        let levels =
            cell(&[("transactions", "1000"), ("contention", contention), ("workers", "2")]);
        levels.into_iter().map(|(factor, level)| (factor, vec![level])).collect()
    };
    let compared = |contention: &str| Comparison {
        metric: "elapsed_ns".into(),
        cells: long(contention),
        scale: Scale::Ratio,
        margin: 0.05,
    };
    Analysis {
        reference: "dashmap".into(),
        floor: Some("sync".into()),
        pairing: Pairing::Paired,
        alpha: 0.05,
        comparisons: vec![compared("disjoint"), compared("hot")],
        contrasts: vec![
            contrast("two_against_one", "workers", "2", "1"),
            contrast("default_against_two", "workers", "default", "2"),
            contrast("sixty_four_against_two", "workers", "64", "2"),
        ],
    }
}

/// In the published cell.
fn contrast(name: &str, factor: &str, level: &str, reference: &str) -> Contrast {
    let cells = cell(&[]).into_iter().filter(|(other, _)| other != factor);
    Contrast {
        name: name.into(),
        variant: "dashmap".into(),
        metric: "elapsed_ns".into(),
        factor: factor.into(),
        level: level.into(),
        reference: reference.into(),
        cells: cells.map(|(factor, level)| (factor, vec![level])).collect(),
        scale: Scale::Ratio,
        margin: 0.05,
    }
}

fn entry(variant: &str) -> VariantEntry {
    let twin_of = variant.strip_suffix("_twin");
    VariantEntry {
        variant: variant.into(),
        family: "ledgers".into(),
        twin_of: twin_of.map(str::to_owned),
        measures: "nothing".into(),
        version: "1.0.0".into(),
        features: vec![],
        tags: if variant == "empty" { vec!["harness".into()] } else { vec![] },
        binary_sha256: format!("sha-of-{}", twin_of.unwrap_or(variant)),
        binary_bytes: 2_000_000,
    }
}

fn sessions() -> Vec<Session> {
    let environment = BTreeMap::from([
        ("pinning".to_owned(), "none: 2 CPUs".into()),
        ("perf_reason".to_owned(), "this machine is imaginary".into()),
    ]);
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
        family: "ledgers".into(),
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
