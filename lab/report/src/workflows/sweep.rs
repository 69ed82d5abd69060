//! A sweep over shapes and polls: who ran in which cell, and how one finds the runs to compare.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::measure::measure;
use super::shape::{Shape, ShapeText};
use super::task::{Task, tasks};
use crate::contrast::alarm;
use crate::frame::Frame;
use crate::measure::{Measured, unit};
use crate::reading::{Reading, Series};
use crate::study::Study;

/// Levels by factor, all factors named.
pub(super) type Cell = BTreeMap<String, String>;

/// In the order in which tables show them.
pub(super) const FACTORS: [&str; 6] =
    ["shape", "in_flight", "poll_ms", "workers", "processes", "worker"];
/// In the order in which tables show them; strangers come last.
pub(super) const SHAPES: [&str; 6] =
    ["linear", "diamond", "conditional", "complex_dag", "hierarchical_tree", "csv_batch"];
/// The cell of most questions, for experiments that name no defaults.
const USUAL: [(&str, &str); 6] = [
    ("shape", "linear"),
    ("in_flight", "1"),
    ("poll_ms", "0"),
    ("workers", "2"),
    ("processes", "0"),
    ("worker", "native"),
];

/// A sweep, measured, with an index of its runs.
pub(super) struct Sweep<'a> {
    pub(super) study: Study<'a>,
    /// The level of each factor where it is not what is asked about.
    base: Cell,
    shapes: BTreeMap<String, Shape>,
    /// Positions in `study.all` by variant and cell.
    runs: BTreeMap<&'a str, BTreeMap<Cell, Vec<usize>>>,
}

/// What this family's report reads of the experiment's text.
#[derive(Default, Deserialize)]
struct Experiment {
    workflow: Option<Section>,
}

#[derive(Default, Deserialize)]
struct Section {
    #[serde(default)]
    defaults: Cell,
    #[serde(default)]
    shape: BTreeMap<String, ShapeText>,
}

impl<'a> Sweep<'a> {
    pub(super) fn of(frame: &'a Frame) -> Self {
        let text: Experiment = toml::from_str(&frame.run_file.experiment_toml).unwrap_or_default();
        let section = text.workflow.unwrap_or_default();
        let mut base: Cell =
            USUAL.iter().map(|(f, l)| ((*f).to_owned(), (*l).to_owned())).collect();
        base.extend(section.defaults);
        let shapes = section.shape.iter().map(|(name, text)| (name.clone(), Shape::of(text)));
        let study = Study::of(frame, measure);
        let runs = index(&study, &base);
        Self { study, base, shapes: shapes.collect(), runs }
    }

    /// The same sweep, of the runs that passed the noise gate; `None` where all did.
    pub(super) fn clean(frame: &'a Frame) -> Option<Self> {
        let mut sweep = Self::of(frame);
        if sweep.study.clean.len() == sweep.study.all.len() {
            return None;
        }
        sweep.study.all = std::mem::take(&mut sweep.study.clean);
        sweep.runs = index(&sweep.study, &sweep.base);
        Some(sweep)
    }

    /// The usual cell with some levels changed.
    pub(super) fn cell(&self, changes: &[(&str, &str)]) -> Cell {
        let mut cell = self.base.clone();
        cell.extend(changes.iter().map(|(f, l)| ((*f).to_owned(), (*l).to_owned())));
        cell
    }

    /// A shape, told of completion, one task after the other, in native workers.
    pub(super) fn event(&self, shape: &str) -> Cell {
        self.cell(&[("shape", shape), ("in_flight", "1"), ("poll_ms", "0"), ("worker", "native")])
    }

    pub(super) fn reference(&self) -> &'a str {
        &self.study.frame.run_file.analysis.reference
    }

    pub(super) fn floor(&self) -> Option<&'a str> {
        self.study.frame.run_file.analysis.floor.as_deref()
    }

    /// Measured variants but twins, in the order of the sweep.
    pub(super) fn variants(&self) -> Vec<&'a str> {
        let frame = self.study.frame;
        self.study.measured_variants().into_iter().filter(|name| !frame.is_twin(name)).collect()
    }

    /// The shapes that anybody ran.
    pub(super) fn shapes(&self) -> Vec<String> {
        self.levels("shape")
    }

    /// The levels of a factor that anybody ran.
    pub(super) fn levels(&self, factor: &str) -> Vec<String> {
        let cells = self.runs.values().flat_map(BTreeMap::keys);
        let mut levels: Vec<&String> = cells.filter_map(|cell| cell.get(factor)).collect();
        levels.sort_by_key(|level| rank(level));
        levels.dedup();
        levels.into_iter().cloned().collect()
    }

    /// What the experiment says of a shape; empty where it says nothing.
    pub(super) fn shape(&self, name: &str) -> Shape {
        self.shapes.get(name).cloned().unwrap_or_default()
    }

    /// The cells in which a variant ran, in the order of tables.
    pub(super) fn cells(&self, variant: &str) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> =
            self.runs.get(variant).into_iter().flatten().map(|c| c.0).collect();
        cells.sort_by_cached_key(|cell| {
            FACTORS.map(|factor| cell.get(factor).map(|level| rank(level)))
        });
        cells
    }

    /// The runs of a variant in a cell, in the order of the plan.
    pub(super) fn runs(&self, variant: &str, cell: &Cell) -> Vec<&Measured<'a>> {
        let positions = self.runs.get(variant).and_then(|cells| cells.get(cell));
        positions.into_iter().flatten().map(|&position| &self.study.all[position]).collect()
    }

    /// The tasks of these runs, all together.
    pub(super) fn tasks(&self, variant: &str, cell: &Cell) -> Vec<Task> {
        let runs = self.runs(variant, cell).into_iter();
        runs.filter_map(|one| tasks(&one.row.samples)).flatten().collect()
    }

    /// A metric by block; where a run was repeated, the mean of both.
    pub(super) fn series(&self, variant: &str, cell: &Cell, metric: &str) -> Series {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for one in self.runs(variant, cell) {
            if let Some(value) = one.value(metric) {
                let (sum, count) = sums.entry(one.row.run.block).or_default();
                *sum += value;
                *count += 1.0;
            }
        }
        sums.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// A metric's median over blocks.
    pub(super) fn level(&self, variant: &str, cell: &Cell, metric: &str) -> Option<Reading> {
        Reading::level(&self.series(variant, cell, metric), unit(metric))
    }

    /// One metric over another, or one variant or cell over another, within blocks.
    pub(super) fn ratio(
        &self,
        (variant, cell, metric): (&str, &Cell, &str),
        (other, other_cell, other_metric): (&str, &Cell, &str),
    ) -> Option<Reading> {
        let reference = self.series(other, other_cell, other_metric);
        Reading::ratio(&self.series(variant, cell, metric), &reference)
    }

    /// Why no verdict on times may be given: two equal programs were told apart.
    pub(super) fn alarm(&self) -> Option<String> {
        alarm(&self.study, super::measure::MAKESPAN)
    }

    /// A cell for people: the shape, then every level that is not the usual one.
    pub(super) fn label(&self, cell: &Cell) -> String {
        let mut label = cell.get("shape").cloned().unwrap_or_else(|| "?".to_owned());
        for factor in FACTORS {
            let Some(level) = cell.get(factor) else { continue };
            match factor {
                "shape" => {}
                "poll_ms" => label.push_str(&format!(", {}", looking(level))),
                _ if self.base.get(factor) == Some(level) => {}
                "in_flight" => label.push_str(&format!(", {level} in flight")),
                "processes" => label.push_str(&format!(", {level} processes")),
                "workers" => label.push_str(&format!(", {level} workers")),
                _ => label.push_str(&format!(", {factor} {level}")),
            }
        }
        label
    }
}

/// How the client learns of the end, for people.
pub(super) fn looking(poll_ms: &str) -> String {
    match poll_ms {
        "0" => "told".to_owned(),
        ms => format!("looking every {ms} ms"),
    }
}

/// Positions of the analysed runs by variant and complete cell.
fn index<'a>(study: &Study<'a>, base: &Cell) -> BTreeMap<&'a str, BTreeMap<Cell, Vec<usize>>> {
    let mut runs: BTreeMap<&str, BTreeMap<Cell, Vec<usize>>> = BTreeMap::new();
    for (position, one) in study.all.iter().enumerate() {
        let mut cell = base.clone();
        cell.extend(one.row.run.cell.clone());
        let cells = runs.entry(&one.row.run.variant).or_default();
        cells.entry(cell).or_default().push(position);
    }
    runs
}

/// Shapes as published, then numbers by size, then words.
fn rank(level: &str) -> (usize, u64, String) {
    let shape = SHAPES.iter().position(|shape| *shape == level).unwrap_or(SHAPES.len());
    (shape, level.parse().unwrap_or(u64::MAX), level.to_owned())
}
