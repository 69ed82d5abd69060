//! Searches that never ran: the plan is that of `experiments/search.toml`, and every time follows
//! from a formula.

use std::path::Path;

use lab_families::engines::Engines;
use lab_plan::PlannedRun;
use lab_report::{Frame, Report};
use proof_kit::world::{Made, World, noise};

pub const SEARCH: &str = include_str!("../../../../experiments/search.toml");
/// (query, one line in so many has it).
const QUERIES: [(&str, u64); 7] = [
    ("claude", 1),
    ("narwhal", 10),
    ("quokka", 1_000),
    ("zyzzyva", 50_000),
    ("zyzzyva_case", 50_000),
    ("few_words", 900),
    ("many_words", 900),
];
const LINE_BYTES: u64 = 500;
const CPUS: u32 = 2;
pub const ENGINES: [&str; 11] = [
    "sequential",
    "rayon",
    "rayon_jemalloc",
    "rayon_mimalloc",
    "tokio",
    "tokio_async",
    "smol",
    "smol_multi",
    "smolscale",
    "threads",
    "io_uring",
];
/// Times over smol's.
pub const PEERS: [(&str, f64); 6] = [
    ("ripgrep", 1.25),
    ("grep", 9.0),
    ("ugrep", 1.5),
    ("jq", 140.0),
    ("duckdb", 3.0),
    ("newline_scan", 0.8),
];

/// What is planted: times over smol's.
#[derive(Clone)]
pub struct Searches {
    pub blocks: u32,
    /// Relative noise of a run, uniform within ± this.
    pub noise: f64,
    pub rayon: f64,
    pub tokio: f64,
    pub smol_multi: f64,
    pub threads: f64,
    /// Whether a second thread helps.
    pub scales: bool,
    /// The twin's time over rayon's.
    pub twin: f64,
    /// What is written after the experiment.
    pub more: &'static str,
}

impl Default for Searches {
    fn default() -> Self {
        Self {
            blocks: 10,
            noise: 0.002,
            rayon: 234.3 / 204.4,
            tokio: 0.9,
            smol_multi: 1.05,
            threads: 0.8,
            scales: true,
            twin: 1.0,
            more: "",
        }
    }
}

impl Searches {
    pub fn world(&self) -> World {
        let blocks = format!("blocks = {}", self.blocks);
        let text = SEARCH.replacen("blocks = 6", &blocks, 1);
        let mut world = World::of(&format!("{text}{}", self.more), &["search"], &ENGINES);
        let tags = vec!["search".to_owned(), "peer".to_owned()];
        world.variants.extend(PEERS.map(|(peer, _)| (peer.to_owned(), tags.clone())));
        world.cpus = CPUS;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        world.with_tags_of(&root, "engines")
    }

    pub fn frame(&self) -> Frame {
        self.world().frame(&Engines, |run| self.make(run))
    }

    pub fn report(&self) -> Report {
        self.world().report(&Engines, |run| self.make(run))
    }

    /// The formula: a nanosecond a byte, spread over threads, and what a process takes anyway.
    fn wall_ns(&self, run: &PlannedRun) -> f64 {
        let (start_ns, ratio) = match run.variant.as_str() {
            "sequential" => (1e6, 1.0),
            "rayon" => (3e6, self.rayon),
            "rayon_twin" => (3e6, self.rayon * self.twin),
            "rayon_jemalloc" => (3e6, 0.9 * self.rayon),
            "tokio" => (3e6, self.tokio),
            "smol_multi" => (3e6, self.smol_multi),
            "threads" => (3e6, self.threads),
            name => (3e6, PEERS.iter().find(|(peer, _)| *peer == name).map_or(1.0, |peer| peer.1)),
        };
        let setting = match (run.cell["prefilter"].as_str(), run.cell["buffer_bytes"].as_str()) {
            ("off", _) => 2.0,
            (_, "16384") => 1.1,
            _ if run.cell["chunk"] == "file" => 1.25,
            // Where case matters, the peer has less to do.
            _ if run.variant == "ripgrep" && run.cell["query"] == "zyzzyva_case" => 0.5,
            _ => 1.0,
        };
        let mapped = if run.cell["read"] == "mmap" { 0.95 } else { 1.0 };
        mapped * ratio * (start_ns + bytes(run) as f64 * setting / self.lanes(run))
    }

    fn lanes(&self, run: &PlannedRun) -> f64 {
        let asked = run.cell["threads"].parse().unwrap_or(f64::from(CPUS));
        if self.scales && run.variant != "sequential" { asked } else { 1.0 }
    }

    pub fn make(&self, run: &PlannedRun) -> Made {
        let wall = (self.wall_ns(run) * noise(self.noise, run)) as u64;
        let lines = bytes(run) / LINE_BYTES;
        let every = QUERIES.iter().find(|(query, _)| *query == run.cell["query"]);
        let matches = lines / every.map_or(1, |(_, every)| *every);
        if PEERS.iter().any(|(peer, _)| *peer == run.variant) {
            return peer(&run.variant, wall, lines, matches);
        }
        if run.variant == "sequential" && !["1", "default"].contains(&run.cell["threads"].as_str())
        {
            return Made { unsupported: Some("one thread".to_owned()), ..Made::default() };
        }
        // Reading from the disk takes three times as long; dropping the files takes a second.
        let is_cold = run.cell["cache"] == "cold";
        let search = (wall - 900_000) * if is_cold { 3 } else { 1 };
        let process = search + 900_000 + if is_cold { 1_000_000_000 } else { 0 };
        let busy = (search as f64 * self.lanes(run)) as u64;
        let mut counters = vec![
            ("wall_ns", search),
            ("walk_ns", busy / 20),
            ("read_ns", busy / 10),
            ("scan_ns", busy * 6 / 10),
            ("parse_ns", busy / 5),
            ("merge_ns", busy / 20),
            ("files", 50),
            ("bytes", bytes(run)),
            ("bytes_read", bytes(run)),
            ("bytes_parsed", matches * LINE_BYTES),
            ("lines", lines),
            ("lines_parsed", matches),
            ("matches", matches),
            ("page_faults_minor", 100),
            ("page_faults_major", 0),
            ("rss_high_water_bytes", 5_000_000 + busy % 1_000),
        ];
        counters.extend(times(process, busy));
        Made { counters, ..Made::default() }
    }
}

/// A peer leaves its bytes uncounted, one that searches text finds 3 lines more, and the count of
/// newlines finds no word.
fn peer(name: &str, wall: u64, lines: u64, floor: u64) -> Made {
    let (lines, matches) = match name {
        "newline_scan" => (lines, 0),
        "ripgrep" => (0, floor + 3),
        _ => (0, floor),
    };
    let mut counters = vec![("files", 50), ("bytes", 0), ("lines", lines), ("matches", matches)];
    counters.extend(times(wall, wall));
    let columns = vec![("floor_matches", vec![floor.cast_signed()])];
    Made { counters, columns, ..Made::default() }
}

fn bytes(run: &PlannedRun) -> u64 {
    run.work.corpus().map_or(0, |corpus| corpus.bytes)
}

fn times(wall_ns: u64, cpu_ns: u64) -> [(&'static str, u64); 3] {
    [
        ("process_wall_ns", wall_ns),
        ("process_user_ns", cpu_ns * 9 / 10),
        ("process_system_ns", cpu_ns / 10),
    ]
}
