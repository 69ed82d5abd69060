//! A sweep over corpora, queries and threads: who ran in which cell, and how one finds the runs.

use std::collections::{BTreeMap, BTreeSet};

use lab_stats::describe::median;
use serde::Deserialize;

use super::measure::{Size, WALL, measure, sizes};
use crate::contrast::alarm;
use crate::effect::Series;
use crate::frame::Frame;
use crate::study::Study;

/// Levels by factor, all factors named.
pub(super) type Cell = BTreeMap<String, String>;

/// In the order in which tables show them.
pub(super) const FACTORS: [&str; 13] = [
    "corpus",
    "query",
    "threads",
    "read",
    "chunk",
    "buffer_bytes",
    "channel_bound",
    "semaphore",
    "result_capacity",
    "prefilter",
    "parser",
    "advise",
    "cache",
];
/// The factors that say what is searched and by how many; the others say how.
pub(super) const PLACE: [&str; 3] = ["corpus", "query", "threads"];
/// A level for every factor, for experiments that name no defaults.
const BASE: [&str; 13] = [
    "gigabyte",
    "zyzzyva",
    "1",
    "buffered",
    "default",
    "default",
    "unbounded",
    "off",
    "default",
    "on",
    "serde_lazy",
    "none",
    "warm",
];
/// The published table: a word in nearly every message, engines as they choose their threads.
const PUBLISHED: [(&str, &str); 3] =
    [("corpus", "xlarge"), ("query", "claude"), ("threads", "default")];
/// Threads at which the bars of speed are stated.
const BARS_THREADS: &str = "2";
const ALLOCATORS: [&str; 2] = ["jemalloc", "mimalloc"];
const PEER_TAG: &str = "peer";
/// The peer that only looks for newlines: the practical ceiling.
pub(super) const NEWLINE_SCAN: &str = "newline_scan";

/// A sweep, measured, with an index of its runs.
pub(super) struct Sweep<'a> {
    pub(super) study: Study<'a>,
    /// The level of each factor where it is not what is asked about.
    pub(super) base: Cell,
    /// By level of `corpus`.
    pub(super) sizes: BTreeMap<String, Size>,
    /// The queries in which letters match in their own case only.
    in_their_case: Vec<String>,
    /// Share of lines that match, by level of `query`.
    selectivity: BTreeMap<String, f64>,
    /// Positions in `study.all` by variant and cell.
    runs: BTreeMap<&'a str, BTreeMap<Cell, Vec<usize>>>,
}

/// What this family's report reads of the experiment's text.
#[derive(Default, Deserialize)]
struct Experiment {
    search: Option<Section>,
    #[serde(default)]
    profile: BTreeMap<String, Section>,
}

#[derive(Default, Deserialize)]
struct Section {
    #[serde(default)]
    defaults: Cell,
    #[serde(default)]
    query: BTreeMap<String, Asked>,
}

#[derive(Default, Deserialize)]
struct Asked {
    #[serde(default)]
    case_sensitive: bool,
}

impl<'a> Sweep<'a> {
    pub(super) fn of(frame: &'a Frame) -> Self {
        let file = &frame.run_file;
        let text: Experiment = toml::from_str(&file.experiment_toml).unwrap_or_default();
        let profile = file.profile.as_ref().and_then(|name| text.profile.get(name));
        let named = FACTORS.iter().zip(BASE);
        let mut base: Cell = named.map(|(f, l)| ((*f).to_owned(), l.to_owned())).collect();
        let search = text.search.unwrap_or_default();
        let in_their_case = search.query.into_iter().filter(|(_, asked)| asked.case_sensitive);
        let in_their_case = in_their_case.map(|(name, _)| name).collect();
        base.extend(search.defaults);
        base.extend(profile.into_iter().flat_map(|profile| profile.defaults.clone()));
        // Records of a time before a factor have no level of it.
        let is_known =
            |factor: &str| frame.rows.iter().any(|row| row.run.cell.contains_key(factor));
        base.retain(|factor, _| is_known(factor));
        let sizes = sizes(&frame.rows);
        let study = Study::of(frame, |rows, keep| measure(rows, keep, &sizes));
        let runs = index(&study);
        let mut sweep =
            Self { study, base, sizes, in_their_case, selectivity: BTreeMap::new(), runs };
        sweep.selectivity = selectivity(&sweep);
        sweep
    }

    /// The same sweep, of the runs that passed the noise gate; `None` where all did.
    pub(super) fn clean(frame: &'a Frame) -> Option<Self> {
        let mut sweep = Self::of(frame);
        if sweep.study.clean.len() == sweep.study.all.len() {
            return None;
        }
        sweep.study.all = std::mem::take(&mut sweep.study.clean);
        sweep.runs = index(&sweep.study);
        Some(sweep)
    }

    /// Why no verdict on times may be given: two equal programs were told apart.
    pub(super) fn alarm(&self) -> Option<String> {
        alarm(&self.study, WALL)
    }

    pub(super) fn cpus(&self) -> u32 {
        self.study.frame.run_file.machine.cpus
    }

    pub(super) fn seed(&self) -> u64 {
        self.study.frame.run_file.seed
    }

    /// The variant without a runtime, on one thread.
    pub(super) fn floor(&self) -> Option<&'a str> {
        self.study.frame.run_file.analysis.floor.as_deref()
    }

    /// Whether a variant is somebody else's program.
    pub(super) fn is_peer(&self, variant: &str) -> bool {
        let entries = &self.study.frame.run_file.variants;
        let tagged = |tags: &[String]| tags.iter().any(|tag| tag == PEER_TAG);
        entries.iter().any(|entry| entry.variant == variant && tagged(&entry.tags))
    }

    /// Measured variants but twins, in the order of the sweep.
    fn variants(&self) -> impl Iterator<Item = &'a str> {
        let frame = self.study.frame;
        self.study.measured_variants().into_iter().filter(|name| !frame.is_twin(name))
    }

    /// Of those, the ones on the shared kernel: their answers are compared, so they did equal work.
    /// One with another allocator is a setting of its engine and no engine.
    pub(super) fn engines(&self) -> Vec<&'a str> {
        let is_engine = |name: &&str| !self.is_peer(name) && allocator(name).is_none();
        self.variants().filter(is_engine).collect()
    }

    /// (engine, allocator, program) of the engines with another allocator.
    pub(super) fn allocators(&self) -> Vec<(&'a str, &'static str, &'a str)> {
        let named = |name: &'a str| {
            let allocator = allocator(name)?;
            let engine = name.strip_suffix(allocator)?.strip_suffix('_')?;
            Some((engine, allocator, name))
        };
        self.variants().filter_map(named).collect()
    }

    /// Somebody else's programs.
    pub(super) fn peers(&self) -> Vec<&'a str> {
        self.variants().filter(|name| self.is_peer(name)).collect()
    }

    /// The cells in which a variant ran, in the order of tables.
    pub(super) fn cells(&self, variant: &str) -> Vec<&Cell> {
        let cells = self.runs.get(variant).into_iter().flatten().map(|(cell, _)| cell);
        let mut cells: Vec<&Cell> = cells.collect();
        cells.sort_by_cached_key(|cell| self.rank(cell));
        cells
    }

    /// The cells of all of these variants, each once, in the order of tables.
    pub(super) fn cells_of(&self, variants: &[&str]) -> Vec<&Cell> {
        let cells = variants.iter().flat_map(|variant| self.cells(variant));
        let mut cells: Vec<&Cell> = cells.collect::<BTreeSet<_>>().into_iter().collect();
        cells.sort_by_cached_key(|cell| self.rank(cell));
        cells
    }

    /// A metric by block; where a run was repeated, the mean of both.
    pub(super) fn series(&self, variant: &str, cell: &Cell, metric: &str) -> Series {
        let positions = self.runs.get(variant).and_then(|cells| cells.get(cell));
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for one in positions.into_iter().flatten().map(|&position| &self.study.all[position]) {
            if let Some(value) = one.value(metric) {
                let (sum, count) = sums.entry(one.row.run.block).or_default();
                *sum += value;
                *count += 1.0;
            }
        }
        sums.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// Time of the whole process.
    pub(super) fn wall(&self, variant: &str, cell: &Cell) -> Series {
        self.series(variant, cell, WALL)
    }

    pub(super) fn median(&self, variant: &str, cell: &Cell, metric: &str) -> Option<f64> {
        centre(&self.series(variant, cell, metric))
    }

    /// Whichever way of reading was faster for a variant in a cell: a peer reads as it likes.
    pub(super) fn best_read(&self, variant: &str, cell: &Cell) -> Option<&Cell> {
        let rest = without(cell, "read");
        let cells = self.cells(variant).into_iter().filter(|one| without(one, "read") == rest);
        let timed = cells.filter_map(|one| Some((one, self.median(variant, one, WALL)?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(one, _)| one)
    }

    /// The fastest of these variants by its median, whichever way it read.
    pub(super) fn fastest(&self, variants: &[&'a str], cell: &Cell) -> Option<(&'a str, &Cell)> {
        let read = variants.iter().filter_map(|v| Some((*v, self.best_read(v, cell)?)));
        let timed = read.filter_map(|(v, one)| Some((v, one, self.median(v, one, WALL)?)));
        timed.min_by(|a, b| a.2.total_cmp(&b.2)).map(|(variant, one, _)| (variant, one))
    }

    /// The cell of the bars of speed: what the experiment asks where it does not say otherwise.
    pub(super) fn bars_cell(&self) -> Cell {
        with(&self.base, "threads", BARS_THREADS)
    }

    /// The same for a word in its own case, where the experiment asks for one.
    pub(super) fn bars_cell_in_case(&self) -> Option<Cell> {
        let queries = self.in_their_case.iter();
        let mut cells = queries.map(|query| with(&self.bars_cell(), "query", query));
        cells.find(|cell| self.fastest(&self.engines(), cell).is_some())
    }

    /// The published table's cell, or else the one at default threads where most engines ran.
    pub(super) fn published(&self) -> Option<Cell> {
        let exact = PUBLISHED.iter().fold(self.base.clone(), |cell, (f, l)| with(&cell, f, l));
        let engines = self.engines();
        let cells = self.cells_of(&engines);
        let ran = |cell: &Cell| {
            engines.iter().filter(|engine| self.median(engine, cell, WALL).is_some()).count()
        };
        let chosen = |cell: &&Cell| cell.get("threads") == exact.get("threads");
        let asked = |cell: &Cell| cell.get("query") == exact.get("query");
        // The last of equals: the largest corpus.
        let best = cells
            .into_iter()
            .filter(chosen)
            .max_by_key(|cell| (**cell == exact, asked(cell), ran(cell)));
        best.cloned()
    }

    /// The levels of one factor by everything else, wherever a variant ran.
    pub(super) fn along(&self, variant: &str, factor: &str) -> Vec<(Cell, Vec<String>)> {
        let mut groups: Vec<(Cell, Vec<String>)> = Vec::new();
        for cell in self.cells(variant) {
            let Some(level) = cell.get(factor) else { continue };
            let rest = without(cell, factor);
            match groups.iter_mut().find(|(known, _)| *known == rest) {
                Some((_, levels)) => levels.push(level.clone()),
                None => groups.push((rest, vec![level.clone()])),
            }
        }
        groups
    }

    /// Whether a cell has the base level of every factor but these (or lacks the factor).
    pub(super) fn is_base_but(&self, cell: &Cell, free: &[&str]) -> bool {
        let same = |(factor, level): (&String, &String)| {
            free.contains(&factor.as_str()) || cell.get(factor).is_none_or(|own| own == level)
        };
        self.base.iter().all(same)
    }

    /// Share of lines that match a query; the same for all corpora but for chance.
    pub(super) fn selectivity(&self, query: &str) -> Option<f64> {
        self.selectivity.get(query).copied()
    }

    /// A cell for people: what is searched first, then every level that is not the base's.
    pub(super) fn label(&self, cell: &Cell) -> String {
        let mut parts = Vec::new();
        for factor in FACTORS {
            let Some(level) = cell.get(factor) else { continue };
            match factor {
                "corpus" | "query" => parts.push(level.clone()),
                "threads" if level == "1" => parts.push("1 thread".to_owned()),
                "threads" => parts.push(format!("{level} threads")),
                _ if self.base.get(factor) != Some(level) => {
                    parts.push(format!("{factor} {level}"));
                }
                _ => {}
            }
        }
        parts.join(", ")
    }

    /// Small corpora first, queries by how much they find, numbers by size.
    fn rank(&self, cell: &Cell) -> Vec<(i64, String)> {
        let of = |factor: &&str| {
            let level = cell.get(*factor).cloned().unwrap_or_default();
            (self.level_rank(factor, &level), level)
        };
        FACTORS.iter().map(of).collect()
    }

    /// Where a level stands among those of its factor, in billionths of its unit; words are last.
    pub(super) fn level_rank(&self, factor: &str, level: &str) -> i64 {
        let value = match factor {
            "corpus" => self.sizes.get(level).map_or(f64::MAX, |size| size.bytes),
            "query" => -self.selectivity(level).unwrap_or(0.0),
            _ => level.parse().unwrap_or(f64::MAX),
        };
        (1e9 * value) as i64
    }
}

/// The allocator of a program that is an engine with another one, named ENGINE_ALLOCATOR.
fn allocator(variant: &str) -> Option<&'static str> {
    ALLOCATORS.into_iter().find(|name| variant.ends_with(&format!("_{name}")))
}

/// The median over blocks.
pub(super) fn centre(series: &Series) -> Option<f64> {
    median(&series.values().copied().collect::<Vec<_>>())
}

pub(super) fn with(cell: &Cell, factor: &str, level: &str) -> Cell {
    let mut cell = cell.clone();
    cell.insert(factor.to_owned(), level.to_owned());
    cell
}

pub(super) fn without(cell: &Cell, factor: &str) -> Cell {
    let mut cell = cell.clone();
    cell.remove(factor);
    cell
}

/// Positions of the analysed runs by variant and cell.
fn index<'a>(study: &Study<'a>) -> BTreeMap<&'a str, BTreeMap<Cell, Vec<usize>>> {
    let mut runs: BTreeMap<&str, BTreeMap<Cell, Vec<usize>>> = BTreeMap::new();
    for (position, one) in study.all.iter().enumerate() {
        let cells = runs.entry(&one.row.run.variant).or_default();
        cells.entry(one.row.run.cell.clone()).or_default().push(position);
    }
    runs
}

/// By what the engines found: a peer counts other lines, or none.
fn selectivity(sweep: &Sweep) -> BTreeMap<String, f64> {
    let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for one in sweep.study.all.iter().filter(|one| !sweep.is_peer(one.variant())) {
        let share = one.value("matches").zip(one.value("lines")).map(|(found, all)| found / all);
        let query = one.row.run.cell.get("query");
        if let Some((query, share)) = query.zip(share.filter(|share| share.is_finite())) {
            shares.entry(query).or_default().push(share);
        }
    }
    let named = shares.into_iter();
    named.filter_map(|(query, all)| Some((query.to_owned(), median(&all)?))).collect()
}
