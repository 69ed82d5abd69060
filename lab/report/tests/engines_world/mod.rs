//! Searches that never ran: every time follows from a formula.

use std::collections::BTreeMap;

use lab_record::{
    Analysis, Comparison, GitState, Machine, Noise, Pairing, Run, RunFile, Samples, Scale, Session,
    SessionEvent, Status, VariantEntry,
};
use lab_report::{Frame, Row};

pub type Levels = BTreeMap<String, String>;

/// CPUs of the machine that is made up.
const CPUS: u32 = 2;
/// (corpus, bytes).
const CORPORA: [(&str, u64); 4] = [
    ("small", 350_000),
    ("xlarge", 35_000_000),
    ("tenth", 100_000_000),
    ("gigabyte", 1_000_000_000),
];
/// (query, one line in so many has it).
const QUERIES: [(&str, u64); 4] =
    [("claude", 1), ("quokka", 1_000), ("zyzzyva", 50_000), ("zyzzyva_case", 50_000)];
const LINE_BYTES: u64 = 500;
const ENGINES: [&str; 7] =
    ["sequential", "rayon", "rayon_twin", "tokio", "smol", "smol_multi", "threads"];
/// The same engine with another allocator: a tenth faster.
const JEMALLOC: &str = "threads_jemalloc";
/// Times over smol's.
const PEERS: [(&str, f64); 3] = [("ripgrep", 1.25), ("duckdb", 3.0), ("newline_scan", 0.8)];

/// What is planted: times over smol's.
#[derive(Clone)]
pub struct World {
    pub blocks: u32,
    /// Relative noise of a run, uniform within ± this.
    pub noise: f64,
    pub rayon: f64,
    pub tokio: f64,
    pub smol_multi: f64,
    pub threads: f64,
    /// Whether a second thread helps.
    pub scales: bool,
    /// Where the bars are looked for.
    pub corpus: &'static str,
}

impl Default for World {
    fn default() -> Self {
        Self {
            blocks: 8,
            noise: 0.002,
            rayon: 234.3 / 204.4,
            tokio: 0.9,
            smol_multi: 1.05,
            threads: 0.8,
            scales: true,
            corpus: "gigabyte",
        }
    }
}

/// The bars' cell with some levels changed.
pub fn cell(changes: &[(&str, &str)]) -> Levels {
    let base = [
        ("corpus", "gigabyte"),
        ("query", "zyzzyva"),
        ("threads", "2"),
        ("read", "buffered"),
        ("chunk", "default"),
        ("buffer_bytes", "default"),
        ("channel_bound", "unbounded"),
        ("semaphore", "off"),
        ("result_capacity", "default"),
        ("prefilter", "on"),
        ("parser", "serde_lazy"),
        ("advise", "none"),
        ("cache", "warm"),
    ];
    let levels = base.iter().chain(changes);
    levels.map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect()
}

impl World {
    pub fn frame(&self) -> Frame {
        let mut rows = Vec::new();
        for block in 0..self.blocks {
            for (variant, cell) in self.places() {
                let order = rows.len() as u64;
                rows.push(self.row(variant, cell, block, order));
            }
        }
        Frame { run_file: self.run_file(rows.len() as u64), sessions: sessions(), rows }
    }

    /// Who runs where.
    fn places(&self) -> Vec<(&'static str, Levels)> {
        let mut places = Vec::new();
        for read in ["buffered", "mmap"] {
            let bars = cell(&[("corpus", self.corpus), ("read", read)]);
            let peers = PEERS.iter().map(|(peer, _)| *peer);
            places.extend(ENGINES.into_iter().chain(peers).map(|name| (name, bars.clone())));
        }
        let word = [("corpus", "xlarge"), ("query", "claude")];
        let published = cell(&[word[0], word[1], ("threads", "default")]);
        places.extend(ENGINES.map(|engine| (engine, published.clone())));
        for (corpus, query, threads) in [
            ("small", "claude", "2"),
            ("small", "zyzzyva", "2"),
            ("xlarge", "claude", "1"),
            ("xlarge", "claude", "2"),
            ("xlarge", "zyzzyva", "2"),
        ] {
            let map = cell(&[("corpus", corpus), ("query", query), ("threads", threads)]);
            for engine in ["sequential", "rayon", "smol", "threads"] {
                places.push((engine, map.clone()));
            }
        }
        let tenth = [("corpus", "tenth"), ("query", "quokka")];
        for change in [
            ("read", "buffered"),
            ("prefilter", "off"),
            ("cache", "cold"),
            ("advise", "will_need"),
            ("buffer_bytes", "16384"),
            ("chunk", "file"),
        ] {
            for engine in ["smol", "threads"] {
                places.push((engine, cell(&[tenth[0], tenth[1], change])));
            }
        }
        places.push((JEMALLOC, cell(&tenth)));
        let case = cell(&[("corpus", self.corpus), ("query", "zyzzyva_case")]);
        places.extend(["smol", "threads", "ripgrep"].map(|name| (name, case.clone())));
        places
    }

    /// The formula: a nanosecond a byte, spread over threads, and what a process takes anyway.
    fn wall_ns(&self, variant: &str, cell: &Levels) -> f64 {
        let bytes = bytes_of(cell) as f64;
        let engine = variant.trim_end_matches("_twin");
        let (start, ratio) = match engine {
            "sequential" => (1e6, 1.0),
            "rayon" => (3e6, self.rayon),
            "tokio" => (3e6, self.tokio),
            "smol_multi" => (3e6, self.smol_multi),
            "threads" => (3e6, self.threads),
            JEMALLOC => (3e6, 0.9 * self.threads),
            peer => (3e6, PEERS.iter().find(|(name, _)| *name == peer).map_or(1.0, |p| p.1)),
        };
        let setting = match (cell["prefilter"].as_str(), cell["buffer_bytes"].as_str()) {
            ("off", _) => 2.0,
            (_, "16384") => 1.1,
            _ if cell["chunk"] == "file" => 1.25,
            // Where case matters, the peer has less to do.
            _ if variant == "ripgrep" && cell["query"] == "zyzzyva_case" => 0.5,
            _ => 1.0,
        };
        ratio * (start + bytes * setting / self.lanes(variant, cell))
    }

    fn lanes(&self, variant: &str, cell: &Levels) -> f64 {
        let asked = cell["threads"].parse().unwrap_or(f64::from(CPUS));
        if self.scales && variant != "sequential" { asked } else { 1.0 }
    }

    fn row(&self, variant: &'static str, cell: Levels, block: u32, order: u64) -> Row {
        let mut run = blank(variant, cell, block, order);
        let is_mapped = run.cell["read"] == "mmap";
        if variant == "duckdb" && is_mapped {
            run.status = Status::Unsupported;
            run.reason = Some("reads as it likes".into());
            return Row { run, samples: Samples::default() };
        }
        let noise = 1.0 + self.noise * (2.0 * unit_draw(&[order, 9]) - 1.0);
        let mapped = if is_mapped { 0.95 } else { 1.0 };
        let wall = (self.wall_ns(variant, &run.cell) * noise * mapped) as u64;
        let lines = bytes_of(&run.cell) / LINE_BYTES;
        let every =
            QUERIES.iter().find(|(query, _)| *query == run.cell["query"]).map_or(1, |q| q.1);
        let matches = lines / every;
        if let Some((peer, _)) = PEERS.iter().find(|(peer, _)| *peer == variant) {
            // A peer leaves its bytes uncounted, and the scan for newlines finds no word.
            let (bytes, lines, found) = match *peer {
                "newline_scan" => (bytes_of(&run.cell), lines, 0),
                "ripgrep" => (0, 0, matches + 3),
                _ => (0, 0, matches),
            };
            let counts = [("files", 50), ("bytes", bytes), ("lines", lines), ("matches", found)];
            run.counters = counts.map(|(name, count)| (name.to_owned(), count)).into();
            times(&mut run, wall, wall);
            let floor = [("floor_matches".to_owned(), vec![matches as i64])];
            return Row { run, samples: Samples::from_raw(floor.into()) };
        }
        // Reading from the disk takes three times as long; dropping the files takes a second.
        let is_cold = run.cell["cache"] == "cold";
        let search = (wall - 900_000) * if is_cold { 3 } else { 1 };
        let process = search + 900_000 + if is_cold { 1_000_000_000 } else { 0 };
        let busy = (search as f64 * self.lanes(variant, &run.cell)) as u64;
        let counts = [
            ("wall_ns", search),
            ("walk_ns", busy / 20),
            ("read_ns", busy / 10),
            ("scan_ns", busy * 6 / 10),
            ("parse_ns", busy / 5),
            ("merge_ns", busy / 20),
            ("files", 50),
            ("bytes", bytes_of(&run.cell)),
            ("bytes_read", bytes_of(&run.cell)),
            ("bytes_parsed", matches * LINE_BYTES),
            ("lines", lines),
            ("lines_parsed", matches),
            ("matches", matches),
            ("page_faults_minor", 100),
            ("page_faults_major", 0),
        ];
        run.counters = counts.map(|(name, count)| (name.to_owned(), count)).into();
        times(&mut run, process, busy);
        Row { run, samples: Samples::default() }
    }

    fn run_file(&self, runs_planned: u64) -> RunFile {
        RunFile {
            schema: 1,
            experiment: "made-up-search".into(),
            experiment_file: "experiments/made-up-search.toml".into(),
            profile: None,
            servers: vec![],
            model: None,
            experiment_toml: format!(
                "[search.defaults]\ncorpus = \"{}\"\nthreads = \"1\"\n\
                 [search.query.zyzzyva_case]\ncase_sensitive = true\n",
                self.corpus
            ),
            attachments: BTreeMap::new(),
            experiment_sha256: "00ff".into(),
            arguments: vec!["run".into(), "experiments/made-up-search.toml".into()],
            analysis: analysis(),
            seed: 7,
            blocks: self.blocks,
            runs_planned,
            git: Some(GitState { commit: "abc123".into(), dirty: false }),
            variants: ENGINES
                .into_iter()
                .chain(PEERS.iter().map(|(peer, _)| *peer))
                .chain([JEMALLOC, "io_uring"])
                .map(entry)
                .collect(),
            machine: Machine {
                cpu_model: "Imaginary 2000".into(),
                cpus: CPUS,
                memory_bytes: 8 << 30,
                kernel: "6.1".into(),
                arch: "x86_64".into(),
            },
            started_unix_s: 0,
        }
    }
}

fn bytes_of(cell: &Levels) -> u64 {
    CORPORA.iter().find(|(corpus, _)| *corpus == cell["corpus"]).map_or(0, |(_, bytes)| *bytes)
}

fn times(run: &mut Run, wall_ns: u64, cpu_ns: u64) {
    let (user, system) = (cpu_ns * 9 / 10, cpu_ns / 10);
    let measured = [
        ("hyperfine_wall_ns", wall_ns),
        ("hyperfine_user_ns", user),
        ("hyperfine_system_ns", system),
    ];
    run.counters.extend(measured.map(|(name, ns)| (name.to_owned(), ns)));
}

fn analysis() -> Analysis {
    let compared = |corpus: &str, query: &str, threads: &str| Comparison {
        metric: "hyperfine_wall_ns".into(),
        cells: [("corpus", corpus), ("query", query), ("threads", threads), ("read", "buffered")]
            .map(|(factor, level)| (factor.to_owned(), vec![level.to_owned()]))
            .into(),
        scale: Scale::Ratio,
        margin: 0.05,
    };
    Analysis {
        reference: "rayon".into(),
        floor: Some("sequential".into()),
        pairing: Pairing::Paired,
        alpha: 0.05,
        comparisons: vec![
            compared("xlarge", "claude", "default"),
            compared("gigabyte", "zyzzyva", "2"),
        ],
        contrasts: vec![],
    }
}

fn entry(variant: &str) -> VariantEntry {
    let twin_of = variant.strip_suffix("_twin");
    let is_peer = PEERS.iter().any(|(peer, _)| *peer == variant);
    VariantEntry {
        variant: variant.into(),
        family: "engines".into(),
        twin_of: twin_of.map(str::to_owned),
        measures: "nothing".into(),
        version: "1.0.0".into(),
        features: vec![],
        tags: if is_peer { vec!["peer".into()] } else { vec!["search".into()] },
        binary_sha256: format!("sha-of-{}", twin_of.unwrap_or(variant)),
        binary_bytes: 2_000_000,
    }
}

fn sessions() -> Vec<Session> {
    let environment = BTreeMap::from([
        ("pinning".to_owned(), "none: 2 CPUs".into()),
        ("floors".to_owned(), serde_json::json!({ "syscall_ns": 100 })),
    ]);
    vec![Session { schema: 1, event: SessionEvent::Start, unix_s: 0, environment }]
}

fn blank(variant: &str, cell: Levels, block: u32, order: u64) -> Run {
    Run {
        schema: 1,
        order,
        attempt: 0,
        block,
        warmup: false,
        family: "engines".into(),
        variant: variant.into(),
        cell,
        status: Status::Ok,
        reason: None,
        verified: true,
        binary_sha256: String::new(),
        start_ns: 0,
        process_ns: 1,
        counters: BTreeMap::new(),
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
