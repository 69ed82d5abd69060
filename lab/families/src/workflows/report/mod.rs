//! The chapters of the `workflows` family. All of them are exploratory: they give no verdict.

mod breakdown;
mod polling;
mod published;
mod tiers;
mod waterfall;
mod workers;

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Cell, Factor};
use lab_record::{Run, RunFile, Samples};
use lab_report::{
    Chapter, FamilyReport, Frame, Kept, Measured, Page, Row, Rows, Study, over_level, study::with,
};
use toml::Table;

use crate::workflows::metrics::{self, MAKESPAN, span_ns};
use crate::workflows::task::{Task, tasks};
use crate::workflows::{FACTORS, Workflows, shape, slim};

/// The share of its time that a sweep should measure.
const MEASURED: f64 = 0.85;

impl FamilyReport for Workflows {
    fn measure<'a>(
        &self,
        _frame: &'a Frame,
        section: &Table,
        rows: &[&'a Row],
    ) -> Vec<Measured<'a>> {
        let shapes = shape::stored(section);
        rows.iter().map(|row| Measured::new(row, metrics::of_run(row, &shapes))).collect()
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        tiers::write(study, page);
        polling::write(study, page);
        breakdown::write(study, page);
        waterfall::write(study, page);
        workers::write(study, page);
        several_processes(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        let mut facts: Vec<String> = life(study).into_iter().collect();
        let ran = levels(study, "shape");
        let declared = shape::stored(&study.section).into_keys();
        let missing: Vec<String> = declared.filter(|shape| !ran.contains(shape)).collect();
        if !missing.is_empty() {
            facts.push(format!("**Shapes without a run**: {}.", missing.join(", ")));
        }
        facts
    }

    /// The shape, then every level that is not the default.
    fn label(&self, cell: &Cell, defaults: &Cell) -> String {
        let mut label = cell.get("shape").cloned().unwrap_or_else(|| "?".to_owned());
        for Factor { name, .. } in FACTORS.iter().filter(|factor| factor.name != "shape") {
            if let Some(level) = cell.get(*name).filter(|level| defaults.get(*name) != Some(level))
            {
                label.push_str(&format!(", {name} {level}"));
            }
        }
        label
    }

    fn slim(&self, sweep: &RunFile, run: &Run, samples: Samples) -> Samples {
        slim::slim(sweep, run, samples)
    }
}

/// How much of the programs' lives the tasks that count took, in all runs and where it was least.
fn life(study: &Study) -> Option<String> {
    let mut lives: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for one in &study.all {
        let Some(ns) = tasks(&one.row.samples).and_then(|tasks| span_ns(&tasks)) else { continue };
        let (measured, life) = lives.entry(&one.row.run.variant).or_default();
        *measured += ns;
        *life += one.row.run.process_ns as f64;
    }
    let share = |(measured, life): (f64, f64)| measured / life;
    let all = lives.values().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let of = |one: &(&&str, &(f64, f64))| share(*one.1);
    let (least, its) = lives.iter().min_by(|one, other| of(one).total_cmp(&of(other)))?;
    let met = if share(all) >= MEASURED { "met" } else { "not met" };
    Some(format!(
        "Tasks that count took {:.1} % of the programs' lives (target {:.0} %: {met}; least \
         `{least}`, {:.1} %); the rest is their start, their end and tasks to warm up.",
        100.0 * share(all),
        100.0 * MEASURED,
        100.0 * share(*its)
    ))
}

/// Writes nothing where no back end ran as several processes: few can.
fn several_processes(study: &Study, page: &mut Page) {
    const FACTOR: &str = "processes";
    let variants = study.variants();
    let factors = ["shape", "in_flight", "workers", "worker", FACTOR];
    let keep = |cell: &Cell| cell.get(FACTOR).is_some_and(|level| level != "0");
    let rows = Rows { variants: &variants, keep: &keep, factors: &factors };
    page.chapter(Chapter {
        heading: "Several processes on one database",
        text: "Two processes orchestrate, the others have the workers. Each metric over that of as \
               many threads in one process, paired by block.",
        table: over_level(study, &rows, (FACTOR, "0"), &[MAKESPAN, "steps_per_s"]),
        kept: Kept::Shown("processes"),
        ..Chapter::default()
    });
}

/// The levels of a factor that any variant ran, in the order of tables.
fn levels(study: &Study, factor: &str) -> Vec<String> {
    let cells = study.variants().into_iter().flat_map(|variant| study.cells(variant));
    let found: BTreeSet<&String> = cells.filter_map(|cell| cell.get(factor)).collect();
    let mut levels: Vec<String> = found.into_iter().cloned().collect();
    levels.sort_by_cached_key(|level| study.level_rank(factor, level));
    levels
}

/// The default cell with another shape.
fn default_cell(study: &Study, shape: &str) -> Cell {
    with(&study.defaults, "shape", shape)
}

/// The tasks of a variant in a cell, of all restarts, whose steps the record keeps.
fn tasks_of(study: &Study, variant: &str, cell: &Cell) -> Vec<Task> {
    let runs = study.runs(variant, cell).into_iter();
    let tasks = runs.filter_map(|one| tasks(&one.row.samples)).flatten();
    tasks.filter(|task| task.steps.len() == task.step_count).collect()
}

/// How a picture's cells were run, for its caption.
fn scale(study: &Study) -> String {
    let file = &study.frame.run_file;
    let smoke = file.profile.as_ref().map_or(String::new(), |name| format!("; profile {name}"));
    let plural = if file.blocks == 1 { "" } else { "s" };
    format!("{} restart{plural} on {} CPUs{smoke}", file.blocks, file.machine.cpus)
}
