//! A sweep over worker counts: who ran in which cell, and how one finds the runs to compare.

use std::collections::{BTreeMap, BTreeSet};

use lab_stats::describe::median;
use serde::Deserialize;

use super::measure::measure;
use crate::contrast::alarm;
use crate::effect::Series;
use crate::frame::Frame;
use crate::study::Study;

/// Levels by factor, all factors named.
pub(super) type Cell = BTreeMap<String, String>;

/// Factors that say what is to be done; the others say how.
pub(super) const DATA: [&str; 5] = ["contention", "kinds", "transactions", "streams", "work_ns"];
/// In the order in which tables show them.
pub(super) const FACTORS: [&str; 10] = [
    "contention",
    "kinds",
    "transactions",
    "streams",
    "work_ns",
    "workers",
    "pinned",
    "spawn",
    "shards",
    "locks",
];
/// The cell of the published sweep, for experiments that name no defaults.
const PUBLISHED: [(&str, &str); 9] = [
    ("contention", "disjoint"),
    ("kinds", "deposits"),
    ("transactions", "100"),
    ("streams", "100"),
    ("work_ns", "0"),
    ("pinned", "off"),
    ("spawn", "stream"),
    ("shards", "library"),
    ("locks", "plain"),
];

/// A sweep, measured, with an index of its runs.
pub(super) struct Sweep<'a> {
    pub(super) study: Study<'a>,
    /// What the experiment divided transactions and busy work by: 1 unless it is a smoke test.
    pub(super) divide_by: u64,
    /// The level of each factor where it is not what is asked about.
    pub(super) base: Cell,
    /// Positions in `study.all` by variant and cell.
    runs: BTreeMap<&'a str, BTreeMap<Cell, Vec<usize>>>,
}

/// What this family's report reads of the experiment's text.
#[derive(Default, Deserialize)]
struct Experiment {
    ledgers: Option<Section>,
    #[serde(default)]
    profile: BTreeMap<String, Section>,
}

#[derive(Default, Deserialize)]
struct Section {
    divide_by: Option<u64>,
    #[serde(default)]
    defaults: Cell,
}

impl<'a> Sweep<'a> {
    pub(super) fn of(frame: &'a Frame) -> Self {
        let file = &frame.run_file;
        let text: Experiment = toml::from_str(&file.experiment_toml).unwrap_or_default();
        let profile = file.profile.as_ref().and_then(|name| text.profile.get(name));
        let section = text.ledgers.unwrap_or_default();
        let divide_by = profile.and_then(|p| p.divide_by).or(section.divide_by).unwrap_or(1).max(1);
        let mut base: Cell =
            PUBLISHED.iter().map(|(f, l)| ((*f).to_owned(), (*l).to_owned())).collect();
        base.extend(section.defaults);
        base.remove("workers");
        let study = Study::of(frame, |rows, keep| measure(rows, keep, divide_by));
        let runs = index(&study);
        Self { study, divide_by, base, runs }
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
        alarm(&self.study, "elapsed_ns")
    }

    pub(super) fn cpus(&self) -> u32 {
        self.study.frame.run_file.machine.cpus
    }

    pub(super) fn seed(&self) -> u64 {
        self.study.frame.run_file.seed
    }

    /// The variant that others are compared with.
    pub(super) fn reference(&self) -> &'a str {
        &self.study.frame.run_file.analysis.reference
    }

    /// The variant without a runtime.
    pub(super) fn floor(&self) -> Option<&'a str> {
        self.study.frame.run_file.analysis.floor.as_deref()
    }

    /// Measured variants but twins, in the order of the sweep.
    pub(super) fn variants(&self) -> Vec<&'a str> {
        let frame = self.study.frame;
        self.study.measured_variants().into_iter().filter(|name| !frame.is_twin(name)).collect()
    }

    /// Of those, the ones that keep a ledger: the harness alone gives no answer.
    pub(super) fn ledgers(&self) -> Vec<&'a str> {
        self.variants().into_iter().filter(|name| !self.is_harness(name)).collect()
    }

    pub(super) fn is_harness(&self, variant: &str) -> bool {
        let entries = &self.study.frame.run_file.variants;
        let tagged = |tags: &[String]| tags.iter().any(|tag| tag == "harness");
        entries.iter().any(|entry| entry.variant == variant && tagged(&entry.tags))
    }

    /// The variant that keeps no ledger.
    pub(super) fn harness(&self) -> Option<&'a str> {
        self.variants().into_iter().find(|name| self.is_harness(name))
    }

    /// The cells in which a variant ran, in the order of tables.
    pub(super) fn cells(&self, variant: &str) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> =
            self.runs.get(variant).into_iter().flatten().map(|(c, _)| c).collect();
        cells.sort_by_cached_key(|cell| rank(cell));
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

    /// Elapsed time at one level of `workers`.
    pub(super) fn elapsed(&self, variant: &str, rest: &Cell, workers: &str) -> Series {
        self.series(variant, &with(rest, "workers", workers), "elapsed_ns")
    }

    pub(super) fn median(&self, variant: &str, cell: &Cell, metric: &str) -> Option<f64> {
        centre(&self.series(variant, cell, metric))
    }

    /// The floor's elapsed time on the same data, however many workers it was asked for.
    pub(super) fn floor_elapsed(&self, cell: &Cell) -> Series {
        let Some(floor) = self.floor() else { return Series::new() };
        let same = |other: &&Cell| DATA.iter().all(|f| other.get(*f) == cell.get(*f));
        let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for other in self.cells(floor).into_iter().filter(same) {
            for (block, value) in self.series(floor, other, "elapsed_ns") {
                values.entry(block).or_default().push(value);
            }
        }
        values.into_iter().filter_map(|(block, all)| Some((block, median(&all)?))).collect()
    }

    /// The levels of `workers` by everything else, wherever a variant ran.
    pub(super) fn curves(&self, variant: &str) -> Vec<(Cell, Vec<String>)> {
        self.along(variant, "workers")
    }

    /// The levels of one factor by everything else, wherever a variant ran.
    pub(super) fn along(&self, variant: &str, factor: &str) -> Vec<(Cell, Vec<String>)> {
        let mut groups: BTreeMap<Cell, BTreeSet<String>> = BTreeMap::new();
        for cell in self.cells(variant) {
            let Some(level) = cell.get(factor) else { continue };
            groups.entry(without(cell, factor)).or_default().insert(level.clone());
        }
        let mut curves: Vec<(Cell, Vec<String>)> = groups
            .into_iter()
            .map(|(rest, levels)| {
                let mut levels: Vec<String> = levels.into_iter().collect();
                levels.sort_by_cached_key(|level| level_rank(level));
                (rest, levels)
            })
            .collect();
        curves.sort_by_cached_key(|(rest, _)| rank(rest));
        curves
    }

    /// Whether a cell has the base level of every factor but these.
    pub(super) fn is_base_but(&self, cell: &Cell, free: &[&str]) -> bool {
        let same = |(factor, level): (&String, &String)| {
            free.contains(&factor.as_str()) || cell.get(factor) == Some(level)
        };
        self.base.iter().all(same)
    }

    /// The numeric worker count up to the CPUs with the smallest median time.
    pub(super) fn best_within_cpus(
        &self,
        variant: &str,
        rest: &Cell,
        levels: &[String],
    ) -> Option<u32> {
        self.best(variant, rest, counts(levels).into_iter().filter(|n| *n <= self.cpus()))
    }

    /// Of these worker counts the one with the smallest median time.
    pub(super) fn best(
        &self,
        variant: &str,
        rest: &Cell,
        counts: impl Iterator<Item = u32>,
    ) -> Option<u32> {
        let timed = counts.filter_map(|count| {
            Some((count, centre(&self.elapsed(variant, rest, &count.to_string()))?))
        });
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(count, _)| count)
    }

    /// The largest count beyond the CPUs.
    pub(super) fn many(&self, levels: &[String]) -> Option<u32> {
        counts(levels).into_iter().filter(|count| *count > self.cpus()).max()
    }

    /// A cell for people: what is done first, then every level that is not the base's.
    pub(super) fn label(&self, cell: &Cell) -> String {
        let level = |factor: &str| cell.get(factor).map_or("?", String::as_str);
        let plural = |count: &str| if count == "1" { "" } else { "s" };
        let mut text = format!(
            "{} stream{} × {}, {}, {}",
            level("streams"),
            plural(level("streams")),
            level("transactions"),
            level("contention"),
            level("kinds")
        );
        for factor in FACTORS {
            let Some(level) = cell.get(factor) else { continue };
            match factor {
                "contention" | "kinds" | "transactions" | "streams" => {}
                "work_ns" if level != "0" => text.push_str(&format!(", work {level} ns")),
                "workers" => text.push_str(&format!(", {level} worker{}", plural(level))),
                _ if self.base.get(factor) != Some(level) => {
                    text.push_str(&format!(", {factor} {level}"));
                }
                _ => {}
            }
        }
        text
    }

    /// The levels that all fields of a heat map share, for people.
    pub(super) fn label_of_plane(&self, plane: &Cell) -> String {
        let level = |factor: &str| plane.get(factor).map_or("?", String::as_str);
        format!(
            "{} transactions a stream, {}, {}",
            level("transactions"),
            level("contention"),
            level("kinds")
        )
    }
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

/// The median over blocks.
pub(super) fn centre(series: &Series) -> Option<f64> {
    median(&series.values().copied().collect::<Vec<_>>())
}

/// Levels that are numbers, ascending.
pub(super) fn counts(levels: &[String]) -> Vec<u32> {
    let mut counts: Vec<u32> = levels.iter().filter_map(|level| level.parse().ok()).collect();
    counts.sort_unstable();
    counts
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

/// The factor's level as a number, for what is ordered by it.
pub(super) fn number(cell: &Cell, factor: &str) -> Option<u64> {
    cell.get(factor)?.parse().ok()
}

/// Numbers by size, before words.
pub(super) fn level_rank(level: &str) -> (u64, String) {
    (level.parse().unwrap_or(u64::MAX), level.to_owned())
}

fn rank(cell: &Cell) -> Vec<(u64, String)> {
    let known = FACTORS.iter().map(|f| cell.get(*f).map(|l| level_rank(l)).unwrap_or_default());
    let strangers = cell.iter().filter(|(factor, _)| !FACTORS.contains(&factor.as_str()));
    known.chain(strangers.map(|(_, level)| level_rank(level))).collect()
}
