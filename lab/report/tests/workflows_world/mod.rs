//! Workflows that never ran: every stamp follows from a formula.

use std::collections::BTreeMap;

use lab_record::{
    Analysis, Comparison, Contrast, GitState, Machine, Noise, Pairing, Run, RunFile, Samples,
    Scale, Session, SessionEvent, Status, VariantEntry,
};
use lab_report::{Frame, Row};

pub type Levels = BTreeMap<String, String>;

/// The stored text of the experiment.
pub const EXPERIMENT: &str = r#"
[workflow.defaults]
shape = "linear"
in_flight = "1"
poll_ms = "0"
workers = "2"
worker = "native"
[workflow.shape.linear]
steps = [
  { name = "square_1", operation = "square" },
  { name = "square_2", after = ["square_1"], operation = "square" },
  { name = "square_3", after = ["square_2"], operation = "square" },
  { name = "square_4", after = ["square_3"], operation = "square" },
]
[workflow.shape.diamond]
steps = [
  { name = "start", operation = "square" },
  { name = "branch_b", after = ["start"], operation = "square" },
  { name = "branch_c", after = ["start"], operation = "square" },
  { name = "end", after = ["branch_b", "branch_c"], operation = "square" },
]
[workflow.shape.csv_batch]
steps = [
  { name = "analyze_csv", operation = { constant = 5 } },
  { name = "process_batch", operation = { sum_rows = 200 }, parts_of = "analyze_csv" },
  { name = "aggregate", after = ["process_batch"], operation = "sum" },
]
"#;

/// (step, part, rows that it waits for) of a shape's rows.
fn rows_of(shape: &str) -> Vec<(i64, i64, Vec<usize>)> {
    match shape {
        "linear" => (0..4).map(|s| (s, 0, (s > 0).then(|| s as usize - 1).into_iter().collect())),
        "diamond" => {
            let after = [vec![], vec![0], vec![0], vec![1, 2]];
            return (0..4).map(|step| (step, 0, after[step as usize].clone())).collect();
        }
        _ => {
            let parts = (0..5).map(|part| (1, part, vec![0]));
            let ends = (2, 0, (1..6).collect());
            return std::iter::once((0, 0, vec![])).chain(parts).chain([ends]).collect();
        }
    }
    .collect()
}

/// What a back end takes, in nanoseconds.
#[derive(Clone, Copy)]
pub struct Costs {
    /// From hand-in, and from one step's recording, until a step may be claimed.
    pub next_ns: i64,
    pub queue_ns: i64,
    pub record_ns: i64,
    pub commits_per_step: u64,
    pub syncs_per_step: u64,
    /// A bare commit or sync.
    pub bare_ns: u64,
}

/// What is planted.
#[derive(Clone)]
pub struct World {
    pub blocks: u32,
    pub tasks: i64,
    /// Relative noise of a run, uniform within ± this.
    pub noise: f64,
    pub back_ends: Vec<(&'static str, Costs)>,
    /// What a step takes more in Python behind a C interface than in a process in Rust, and half of
    /// what it takes more in Python alone; 0 for no such workers.
    pub python_ns: i64,
}

/// What a step takes more in a process of its own.
pub const PIPE_NS: i64 = 9_000;

pub const MEMORY: Costs = Costs {
    next_ns: 1_000,
    queue_ns: 4_000,
    record_ns: 500,
    commits_per_step: 0,
    syncs_per_step: 0,
    bare_ns: 0,
};
pub const JOURNAL: Costs = Costs {
    next_ns: 2_000,
    queue_ns: 10_000,
    record_ns: 210_000,
    commits_per_step: 0,
    syncs_per_step: 1,
    bare_ns: 200_000,
};
pub const POSTGRES: Costs = Costs {
    next_ns: 200_000,
    queue_ns: 300_000,
    record_ns: 400_000,
    commits_per_step: 3,
    syncs_per_step: 0,
    bare_ns: 300_000,
};
/// A peer that takes 40 ms a step.
pub const DBOS: Costs = Costs {
    next_ns: 10_000_000,
    queue_ns: 20_000_000,
    record_ns: 10_000_000,
    commits_per_step: 2,
    syncs_per_step: 0,
    bare_ns: 300_000,
};

impl Default for World {
    fn default() -> Self {
        Self {
            blocks: 8,
            tasks: 12,
            noise: 0.01,
            back_ends: vec![("memory", MEMORY), ("journal", JOURNAL), ("postgres", POSTGRES)],
            python_ns: 0,
        }
    }
}

/// The usual cell with some levels changed.
pub fn cell(changes: &[(&str, &str)]) -> Levels {
    let base = [
        ("shape", "linear"),
        ("in_flight", "1"),
        ("poll_ms", "0"),
        ("workers", "2"),
        ("worker", "native"),
    ];
    let levels = base.iter().chain(changes);
    levels.map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect()
}

impl World {
    /// The usual world with one back end's costs changed, or one more back end.
    pub fn with(name: &'static str, costs: Costs) -> Self {
        let mut world = Self::default();
        world.back_ends.retain(|(other, _)| *other != name);
        world.back_ends.push((name, costs));
        world
    }

    pub fn frame(&self) -> Frame {
        let mut rows = Vec::new();
        for block in 0..self.blocks {
            for cell in self.cells() {
                for variant in self.variants() {
                    let order = rows.len() as u64;
                    rows.push(self.run(&variant, &cell, block, order));
                }
            }
        }
        Frame { run_file: self.run_file(rows.len() as u64), sessions: sessions(), rows }
    }

    fn variants(&self) -> Vec<String> {
        let names = self.back_ends.iter().map(|(name, _)| (*name).to_owned());
        names.chain(["postgres_twin".to_owned()]).collect()
    }

    fn cells(&self) -> Vec<Levels> {
        let mut cells: Vec<Levels> =
            ["linear", "diamond", "csv_batch"].map(|shape| cell(&[("shape", shape)])).into();
        cells.push(cell(&[("in_flight", "2")]));
        for poll in ["10", "50"] {
            cells.extend(["linear", "diamond"].map(|s| cell(&[("shape", s), ("poll_ms", poll)])));
        }
        if self.python_ns > 0 {
            let workers = ["native_process", "python_ffi", "python_process"];
            cells.extend(workers.map(|worker| cell(&[("worker", worker)])));
        }
        cells
    }

    fn run(&self, variant: &str, cell: &Levels, block: u32, order: u64) -> Row {
        let name = variant.trim_end_matches("_twin");
        let costs = self.back_ends.iter().find(|(other, _)| *other == name).expect("a back end").1;
        let mut columns: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut start = 1_000_000_000_000 + i64::from(block);
        let mut steps = 0;
        for task in 0..self.tasks {
            let draw = unit_draw(&[order, task as u64, 3]);
            let slower =
                (1.0 + 0.2 * draw) * (1.0 + self.noise * (2.0 * unit_draw(&[order]) - 1.0));
            let (stamps, observed) = self.task(costs, cell, slower, start);
            let done = stamps.iter().map(|(.., stamp)| stamp[5]).max().expect("a step");
            let mut put = |name: &str, value| {
                columns.entry(name.to_owned()).or_default().push(value);
            };
            put("task", task);
            put("task_submitted_ns", start);
            put("task_accepted_ns", start + 700);
            put("task_completed_ns", done + 100);
            put("task_observed_ns", observed);
            for (step, part, stamp) in stamps {
                steps += 1;
                put("step_task", task);
                put("step", step);
                put("step_part", part);
                for (name, value) in STAMPS.iter().zip(stamp) {
                    put(name, value);
                }
                put("step_value", 4);
                put("step_claims", 1);
            }
            start = observed + 1_000;
        }
        let run = blank(variant, cell.clone(), block, order, counters(costs, cell, steps));
        Row { run, samples: Samples::from_raw(columns) }
    }

    /// Steps with their stamps, and when the client knows.
    fn task(
        &self,
        costs: Costs,
        cell: &Levels,
        slower: f64,
        start: i64,
    ) -> (Vec<(i64, i64, [i64; 6])>, i64) {
        let scaled = |ns: i64| (ns as f64 * slower) as i64;
        let worker_ns = match cell["worker"].as_str() {
            "native" => 0,
            "native_process" => PIPE_NS,
            "python_ffi" => PIPE_NS + self.python_ns,
            _ => PIPE_NS + 2 * self.python_ns,
        };
        let mut stamps: Vec<(i64, i64, [i64; 6])> = Vec::new();
        for (step, part, after) in rows_of(&cell["shape"]) {
            let ready = after.iter().map(|&row| stamps[row].2[5]).max().unwrap_or(start);
            let enqueued = ready + scaled(costs.next_ns) + 10 * part;
            let claimed = enqueued + scaled(costs.queue_ns);
            let started = claimed + 300;
            let finished = started + 2_000 + worker_ns;
            let recorded = finished + scaled(costs.record_ns) + 5 * step;
            stamps.push((
                step,
                part,
                [start + 500, enqueued, claimed, started, finished, recorded],
            ));
        }
        let done = stamps.iter().map(|(.., stamp)| stamp[5]).max().expect("a step") + 100;
        let observed = match cell["poll_ms"].parse::<i64>().expect("a number") * 1_000_000 {
            0 => done + 20_000,
            poll => start + (done - start).div_euclid(poll) * poll + poll + 120_000,
        };
        (stamps, observed)
    }

    fn run_file(&self, runs_planned: u64) -> RunFile {
        RunFile {
            schema: 1,
            experiment: "made-up-workflows".into(),
            experiment_file: "experiments/made-up-workflows.toml".into(),
            profile: None,
            servers: vec![],
            model: None,
            experiment_toml: EXPERIMENT.into(),
            attachments: BTreeMap::new(),
            experiment_sha256: "00ff".into(),
            arguments: vec!["run".into(), "experiments/made-up-workflows.toml".into()],
            analysis: analysis(),
            seed: 7,
            blocks: self.blocks,
            runs_planned,
            git: Some(GitState { commit: "abc123".into(), dirty: false }),
            variants: self.variants().iter().map(|name| entry(name)).collect(),
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

const STAMPS: [&str; 6] = [
    "step_created_ns",
    "step_enqueued_ns",
    "step_claimed_ns",
    "step_started_ns",
    "step_finished_ns",
    "step_recorded_ns",
];

fn counters(costs: Costs, cell: &Levels, steps: u64) -> BTreeMap<String, u64> {
    let counts = [
        ("commits", costs.commits_per_step * steps),
        ("statements", 2 * costs.commits_per_step * steps),
        ("bare_commit_ns", if costs.commits_per_step > 0 { costs.bare_ns } else { 0 }),
        ("syncs", costs.syncs_per_step * steps),
        ("bare_sync_ns", if costs.syncs_per_step > 0 { costs.bare_ns } else { 0 }),
        ("ffi_call_ns", if cell["worker"].ends_with("_ffi") { 150 } else { 0 }),
    ];
    let has = counts.into_iter().filter(|(_, count)| *count > 0);
    has.map(|(name, count)| (name.to_owned(), count)).collect()
}

fn analysis() -> Analysis {
    let levels = |changes: &[(&str, &str)]| -> BTreeMap<String, Vec<String>> {
        changes.iter().map(|(f, l)| ((*f).to_owned(), vec![(*l).to_owned()])).collect()
    };
    Analysis {
        reference: "postgres".into(),
        floor: Some("memory".into()),
        pairing: Pairing::Paired,
        alpha: 0.05,
        comparisons: vec![Comparison {
            metric: "makespan_ns".into(),
            cells: levels(&[("poll_ms", "0"), ("in_flight", "1"), ("worker", "native")]),
            scale: Scale::Ratio,
            margin: 0.05,
        }],
        contrasts: vec![Contrast {
            name: "journal_looking_every_50_ms".into(),
            variant: "journal".into(),
            metric: "makespan_ns".into(),
            factor: "poll_ms".into(),
            level: "50".into(),
            reference: "0".into(),
            cells: levels(&[("in_flight", "1"), ("worker", "native")]),
            scale: Scale::Ratio,
            margin: 0.05,
        }],
    }
}

fn entry(variant: &str) -> VariantEntry {
    let twin_of = variant.strip_suffix("_twin");
    VariantEntry {
        variant: variant.into(),
        family: "workflows".into(),
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
        family: "workflows".into(),
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
