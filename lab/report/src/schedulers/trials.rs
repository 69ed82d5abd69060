//! All tests of all policies: who ran in which cell, and how one finds the runs to compare.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::measure::measure;
use crate::contrast::alarm;
use crate::frame::Frame;
use crate::measure::Measured;
use crate::reading::Series;
use crate::study::Study;

/// Levels by factor, all factors named.
pub(super) type Cell = BTreeMap<String, String>;
/// The levels that are asked for; every other factor stands at its default.
pub(super) type Asked<'l> = &'l [(&'l str, &'l str)];

/// The policy that this repository's library has.
pub(super) const OURS: &str = "thompson";
/// The policy that the published report speaks of.
pub(super) const PUBLISHED: &str = "loom_rs";
pub(super) const INLINE: &str = "always_inline";
pub(super) const OFFLOAD: &str = "always_offload";
/// Knows the true cost: a yardstick, and no candidate.
pub(super) const ORACLE: &str = "oracle";
/// The whole field: who is not there is named.
pub(super) const FIELD: [&str; 7] = [INLINE, OFFLOAD, "threshold", "ewma", OURS, PUBLISHED, ORACLE];

/// In the order in which tables show them.
pub(super) const FACTORS: [&str; 10] = [
    "test",
    "part",
    "deciders",
    "costs",
    "work",
    "concurrency",
    "order",
    "load",
    "tokio_workers",
    "rayon_threads",
];

/// Words in the order in which tables show them, costs and works alike (`slow` is both); strangers
/// come last.
const WORDS: [&str; 21] = [
    "cold",
    "choose",
    "cycle",
    "steady_small",
    "inline_240_offload_30",
    "fast",
    "medium",
    "slow",
    "mixed",
    "published_fast",
    "published_medium",
    "published_slow",
    "published_mixed",
    "shift",
    "drift",
    "bimodal",
    "by_size",
    "many_sites",
    "recorded",
    "idle",
    "block_3ms",
];

/// The tests, measured, with an index of their runs.
pub(super) struct Trials<'a> {
    pub(super) study: Study<'a>,
    base: Cell,
    /// Every cell in which anyone was measured.
    cells: BTreeSet<Cell>,
    /// Positions in `study.all` by variant and cell.
    runs: BTreeMap<&'a str, BTreeMap<Cell, Vec<usize>>>,
}

/// What this family's report reads of the experiment's text.
#[derive(Default, Deserialize)]
struct Experiment {
    offload: Option<Section>,
}

#[derive(Default, Deserialize)]
struct Section {
    #[serde(default)]
    defaults: Cell,
}

impl<'a> Trials<'a> {
    pub(super) fn of(frame: &'a Frame) -> Self {
        Self::index(frame, Study::of(frame, measure))
    }

    /// The same, of the runs that passed the noise gate; `None` where all did.
    pub(super) fn clean(frame: &'a Frame) -> Option<Self> {
        let mut study = Study::of(frame, measure);
        if study.clean.len() == study.all.len() {
            return None;
        }
        study.all = std::mem::take(&mut study.clean);
        Some(Self::index(frame, study))
    }

    fn index(frame: &Frame, study: Study<'a>) -> Self {
        let text: Experiment = toml::from_str(&frame.run_file.experiment_toml).unwrap_or_default();
        let base = text.offload.unwrap_or_default().defaults;
        let mut runs: BTreeMap<&str, BTreeMap<Cell, Vec<usize>>> = BTreeMap::new();
        let mut cells = BTreeSet::new();
        for (position, one) in study.all.iter().enumerate() {
            let run = &one.row.run;
            cells.insert(run.cell.clone());
            let own = runs.entry(&run.variant).or_default();
            own.entry(run.cell.clone()).or_default().push(position);
        }
        Self { study, base, cells, runs }
    }

    /// Measured variants but twins, in the order of the sweep.
    pub(super) fn policies(&self) -> Vec<&'a str> {
        let frame = self.study.frame;
        self.study.measured_variants().into_iter().filter(|name| !frame.is_twin(name)).collect()
    }

    /// Of those, the ones that could be used: nobody knows the true cost.
    pub(super) fn candidates(&self) -> Vec<&'a str> {
        self.policies().into_iter().filter(|name| *name != ORACLE).collect()
    }

    /// Policies with a value of a metric at these levels.
    pub(super) fn with(&self, test: &str, levels: Asked, metric: &str) -> Vec<&'a str> {
        let has = |name: &&str| !self.series(name, test, levels, metric).is_empty();
        self.policies().into_iter().filter(has).collect()
    }

    pub(super) fn cells_of(&self, variant: &str) -> impl Iterator<Item = &Cell> {
        self.runs.get(variant).into_iter().flat_map(|cells| cells.keys())
    }

    /// The blocks of a variant's runs in each of its cells, one for each run.
    pub(super) fn blocks_by_cell(&self, variant: &str) -> Vec<(&Cell, Vec<u32>)> {
        let block = |position: &usize| self.study.all[*position].row.run.block;
        let own = self.runs.get(variant).into_iter().flatten();
        own.map(|(cell, positions)| (cell, positions.iter().map(block).collect())).collect()
    }

    /// Whether anyone ran a test at these levels.
    pub(super) fn ran(&self, test: &str, levels: Asked) -> bool {
        !self.place(test, levels).is_empty()
    }

    /// The levels of a factor at which a test ran, in the order of tables.
    pub(super) fn levels(&self, test: &str, factor: &str) -> Vec<String> {
        let of_test = self.cells.iter().filter(|cell| is(cell, "test", test));
        let found: BTreeSet<&String> = of_test.filter_map(|cell| cell.get(factor)).collect();
        let mut levels: Vec<String> = found.into_iter().cloned().collect();
        levels.sort_by_cached_key(|level| rank(level));
        levels
    }

    /// Every combination of levels of several factors at which a test ran, among the cells that
    /// have these levels.
    pub(super) fn combinations(
        &self,
        test: &str,
        levels: Asked,
        factors: &[&str],
    ) -> Vec<Vec<String>> {
        let asked = |cell: &&Cell| {
            is(cell, "test", test) && levels.iter().all(|(factor, level)| is(cell, factor, level))
        };
        let level = |cell: &Cell, factor: &str| cell.get(factor).cloned().unwrap_or_default();
        let found: BTreeSet<Vec<String>> = self
            .cells
            .iter()
            .filter(asked)
            .map(|cell| factors.iter().map(|factor| level(cell, factor)).collect())
            .collect();
        let mut found: Vec<Vec<String>> = found.into_iter().collect();
        found.sort_by_cached_key(|levels| levels.iter().map(|l| rank(l)).collect::<Vec<_>>());
        found
    }

    /// A metric by block; where several runs of a block answer, their mean.
    pub(super) fn series(&self, variant: &str, test: &str, levels: Asked, metric: &str) -> Series {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for one in self.rows(variant, test, levels) {
            if let Some(value) = one.value(metric) {
                let (sum, count) = sums.entry(one.row.run.block).or_default();
                *sum += value;
                *count += 1.0;
            }
        }
        sums.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// The ratio of threads at which all of these policies streamed: the default one, or else the
    /// first in the order of tables. A policy may refuse more threads than there are processors.
    pub(super) fn shared_threads(&self, policies: &[&str], levels: Asked) -> Option<[String; 2]> {
        let factors = ["tokio_workers", "rayon_threads"];
        let ran = |threads: &Vec<String>| {
            let mut levels = levels.to_vec();
            levels.extend(factors.iter().copied().zip(threads.iter().map(String::as_str)));
            let streamed =
                |policy: &&str| !self.series(policy, "stream", &levels, "items_per_s").is_empty();
            policies.iter().all(streamed)
        };
        let usual = |threads: &Vec<String>| {
            factors.iter().zip(threads).all(|(factor, level)| is(&self.base, factor, level))
        };
        let mut found = self.combinations("stream", levels, &factors);
        found.retain(ran);
        found.sort_by_key(|threads| !usual(threads));
        found.into_iter().next()?.try_into().ok()
    }

    /// The runs of a variant at these levels, in the order of the plan.
    pub(super) fn rows(&self, variant: &str, test: &str, levels: Asked) -> Vec<&Measured<'a>> {
        let Some(own) = self.runs.get(variant) else { return vec![] };
        let cells = self.place(test, levels).into_iter();
        let mut positions: Vec<usize> =
            cells.filter_map(|cell| own.get(cell)).flatten().copied().collect();
        positions.sort_unstable();
        positions.into_iter().map(|position| &self.study.all[position]).collect()
    }

    /// Why no verdict on a metric may be given: two equal programs were told apart by it.
    pub(super) fn doubt(&self, metric: &str) -> Option<String> {
        alarm(&self.study, metric)
    }

    /// The cells of a test at these levels. A factor that matters to the test and is not asked for
    /// stands at its default, where anyone ran there: so all variants are looked for in the same
    /// cells.
    fn place(&self, test: &str, levels: Asked) -> Vec<&Cell> {
        let asked = |cell: &&Cell| {
            is(cell, "test", test) && levels.iter().all(|(factor, level)| is(cell, factor, level))
        };
        let mut found: Vec<&Cell> = self.cells.iter().filter(asked).collect();
        for factor in matters(test) {
            let free = !levels.iter().any(|(other, _)| other == factor);
            let Some(level) = self.base.get(*factor).filter(|_| free) else { continue };
            let usual: Vec<&Cell> =
                found.iter().copied().filter(|cell| is(cell, factor, level)).collect();
            if !usual.is_empty() {
                found = usual;
            }
        }
        found
    }
}

/// The factors that say what a test does.
fn matters(test: &str) -> &'static [&'static str] {
    match test {
        "decide" => &["part", "deciders"],
        "replay" => &["costs"],
        "stream" => &["work", "concurrency", "order", "tokio_workers", "rayon_threads"],
        _ => &["load", "tokio_workers", "rayon_threads"],
    }
}

fn is(cell: &Cell, factor: &str, level: &str) -> bool {
    cell.get(factor).is_some_and(|own| own == level)
}

/// Known words first, then by the number in a name.
fn rank(level: &str) -> (usize, u64, String) {
    let word = WORDS.iter().position(|word| *word == level).unwrap_or(WORDS.len());
    let digits: String = level.chars().filter(char::is_ascii_digit).collect();
    (word, digits.parse().unwrap_or(u64::MAX), level.to_owned())
}
