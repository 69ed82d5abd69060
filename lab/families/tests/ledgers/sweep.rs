//! A sweep over workers that never ran: the real experiment in fewer cells, and every time follows
//! from a formula.

use lab_families::ledgers::Ledgers;
use lab_family::Cell;
use lab_plan::{PlannedRun, merged};
use lab_report::{Frame, Report};
use proof_kit::world::{Made, World, noise};
use toml::{Table, Value};

const THREADS: &str = include_str!("../../../../experiments/threads.toml");
const VARIANTS: [&str; 7] = ["dashmap", "sharded_mutex", "owned", "sync", "rayon", "smol", "empty"];

/// The contrasts that stay: of more, no p-value of nine blocks would pass Holm's correction.
const CONTRASTS: [&str; 7] = [
    "eight_against_one",
    "eight_against_default",
    "eight_against_64",
    "sixteen_against_eight",
    "default_against_current_thread",
    "two_against_one",
    "shards_of_64_cpus_at_64",
];

/// The cells that the expectations of the real experiment ask for.
const FEWER: &str = r#"
extends = "threads.toml"
name = "made-up-threads"
cells = [
    { variant = ["dashmap", "dashmap_twin",
      "owned"], transactions = ["1000"], kinds = ["mixed"], contention = ["disjoint",
      "hot"], workers = ["1", "2"] },
    { variant = ["empty",
      "sync"], transactions = ["1000"], kinds = ["mixed"], contention = ["disjoint",
      "hot"], workers = ["1"] },
    { variant = ["empty"], transactions = ["1000"], kinds = ["mixed"], workers = ["2"] },
    { variant = ["dashmap", "owned", "empty"], streams = ["1", "100", "1000"], workers = ["1",
      "2", "4", "8", "16", "32", "64", "current_thread", "default"] },
    { variant = ["dashmap"], streams = ["10", "10000"], workers = ["1", "2", "8", "64",
      "current_thread", "default"] },
    { variant = ["sync"], streams = ["1", "100", "1000", "10000"] },
    { variant = ["dashmap", "owned"], transactions = ["10"], work_ns = ["0", "5000",
      "50000"], workers = ["1", "2", "64"] },
    { variant = ["dashmap"], shards = ["256", "1024"], workers = ["64"] },
    { variant = ["dashmap"], pinned = ["on"], workers = ["2"] },
    { variant = ["dashmap"], spawn = ["batch"], workers = ["2", "64"] },
    { variant = ["dashmap"], locks = ["watched"], workers = ["64"] },
]
"#;

/// What is planted. A transaction takes 50 ns and its busy work, spread evenly over the lanes.
#[derive(Clone)]
pub struct Sweep {
    pub blocks: u32,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Workers that really run at once.
    pub lanes: f64,
    /// What each worker beyond the lanes adds, whatever the variant keeps.
    pub extra_worker_ns: f64,
    /// What `dashmap` alone loses by each worker beyond the lanes.
    pub lock_ns: f64,
    /// Whether more shards take that loss away.
    pub shards_help: bool,
    /// What a second worker adds, so that little work is better done by one.
    pub second_worker_ns: f64,
    /// The twin's time over the original's.
    pub twin_factor: f64,
    /// Of how many sessions it is the last; each has noise of its own.
    pub session: u32,
    /// What `owned` takes more or less in this sweep.
    pub owned_factor: f64,
    /// The last block that the noise gate lets through.
    pub last_clean_block: u32,
    /// Whether cells with busy work are left out.
    pub little_work: bool,
}

impl Default for Sweep {
    fn default() -> Self {
        Self {
            blocks: 9,
            cpus: 2,
            lanes: 2.0,
            extra_worker_ns: 10_000.0,
            lock_ns: 0.0,
            shards_help: false,
            second_worker_ns: 20_000.0,
            twin_factor: 1.0,
            session: 1,
            owned_factor: 1.0,
            last_clean_block: u32::MAX,
            little_work: false,
        }
    }
}

impl Sweep {
    pub fn frame(&self) -> Frame {
        let text = merged(("made-up.toml", FEWER), ("threads.toml", THREADS)).unwrap();
        let mut experiment: Table = text.parse().unwrap();
        experiment.insert("blocks".to_owned(), Value::Integer(self.blocks.into()));
        let contrasts = experiment["analysis"]["contrasts"].as_array_mut().unwrap();
        contrasts.retain(|one| CONTRASTS.contains(&one["id"].as_str().unwrap()));
        if self.little_work {
            without_work(&mut experiment);
        }
        let mut world = World::of(&experiment.to_string(), &["threads"], &VARIANTS);
        world.cpus = self.cpus;
        for (name, tags) in &mut world.variants {
            tags.extend((name == "empty").then(|| "harness".to_owned()));
        }
        world.frame(&Ledgers, |run| self.made(run))
    }

    pub fn report(&self) -> Report {
        report(&self.frame())
    }

    /// The formula.
    fn elapsed_ns(&self, variant: &str, cell: &Cell) -> f64 {
        let number = |factor: &str| cell[factor].parse::<f64>().unwrap();
        let (streams, transactions) = (number("streams"), number("transactions"));
        let workers = self.workers(cell) as f64;
        let each = if variant == "empty" { 1.0 } else { 50.0 } + number("work_ns");
        let hot = cell["contention"] == "hot" && variant != "owned";
        let lanes = if hot { 1.0 } else { workers.min(self.lanes).min(streams) };
        let runtime = if variant == "sync" { 0.0 } else { 5_000.0 };
        let beyond = (workers - self.lanes).max(0.0);
        let freed = self.shards_help && cell["shards"] != "library";
        let lock = if variant == "dashmap" && !freed { self.lock_ns } else { 0.0 };
        runtime
            + streams * transactions * each / lanes
            + if workers > 1.0 { self.second_worker_ns } else { 0.0 }
            + beyond * (self.extra_worker_ns + lock)
    }

    fn workers(&self, cell: &Cell) -> u64 {
        match cell["workers"].as_str() {
            "current_thread" => 1,
            "default" => u64::from(self.cpus),
            count => count.parse().unwrap(),
        }
    }

    fn made(&self, run: &PlannedRun) -> Made {
        let original = run.variant.trim_end_matches("_twin");
        let twin = if original == run.variant { 1.0 } else { self.twin_factor };
        let own = if original == "owned" { self.owned_factor } else { 1.0 };
        let block = run.block + (self.session - 1) * self.blocks;
        let noise = noise(0.002, &PlannedRun { block, ..run.clone() });
        let elapsed = self.elapsed_ns(original, &run.cell) * noise * twin * own;
        let elapsed = elapsed as i64;
        let mut columns = vec![
            ("elapsed_ns", vec![elapsed - 5, elapsed, elapsed + 900]),
            ("teardown_ns", vec![1_000, 1_000, 1_000]),
            ("cpu_ns", vec![elapsed, elapsed, elapsed]),
            ("voluntary_switches", vec![3, 4, 5]),
            ("involuntary_switches", vec![0, 0, 0]),
            ("answer_hash", vec![11, 11, 11]),
        ];
        if run.cell["locks"] == "watched" {
            columns.extend([("lock_wait_ns", vec![elapsed; 3]), ("lock_waits", vec![20; 3])]);
        }
        let is_gated = run.block > self.last_clean_block;
        Made {
            gated: is_gated.then(|| "steal".to_owned()).into_iter().collect(),
            counters: vec![
                ("workers", self.workers(&run.cell)),
                ("shards", u64::from(4 * self.cpus).next_power_of_two()),
            ],
            columns,
            ..Made::default()
        }
    }
}

/// The report of a frame that a test has changed.
pub fn report(frame: &Frame) -> Report {
    lab_report::report(frame, &[&Ledgers]).unwrap_or_else(|error| panic!("{error}"))
}

/// Takes out busy work, and what speaks of it.
fn without_work(experiment: &mut Table) {
    experiment.remove("profile");
    experiment.remove("expect");
    for group in experiment["cells"].as_array_mut().unwrap() {
        if let Some(Value::Array(levels)) = group.get_mut("work_ns") {
            levels.truncate(1);
        }
    }
}
