//! The chapters of the `workflows` family. All of them are exploratory: they give no verdict.

mod breakdown;
mod polling;
mod published;
mod tiers;
mod waterfall;
mod workers;

use std::collections::BTreeSet;

use lab_family::{Cell, Factor};
use lab_record::{Run, RunFile, Samples};
use lab_report::{FamilyReport, Frame, Measured, Page, Row, Rows, Study, over_level, study::with};
use toml::Table;

use crate::metrics::{self, MAKESPAN};
use crate::task::{Task, tasks};
use crate::{FACTORS, Workflows, shape, slim};

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
        let mut facts = vec![
            "A run starts a back end, puts its tasks through it, stops it, and gives one value per \
             metric. Blocks are restarts, and n counts them. `poll_ms` 0 is push notification."
                .to_owned(),
        ];
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

    fn slim(&self, _sweep: &RunFile, _run: &Run, samples: Samples) -> Samples {
        slim::from_the_first_task(samples)
    }
}

/// Writes nothing where no back end ran as several processes: few can.
fn several_processes(study: &Study, page: &mut Page) {
    const FACTOR: &str = "processes";
    let variants = study.variants();
    let factors = ["shape", "in_flight", "workers", "worker", FACTOR];
    let keep = |cell: &Cell| cell.get(FACTOR).is_some_and(|level| level != "0");
    let rows = Rows { variants: &variants, keep: &keep, factors: &factors };
    let table = over_level(study, &rows, (FACTOR, "0"), &[MAKESPAN, "steps_per_s"]);
    if table.is_empty() {
        return;
    }
    page.heading("Several processes on one database");
    page.paragraph(
        "Two processes orchestrate, the others have the workers. Each metric over that of as \
         many threads in one process, paired by block.",
    );
    page.table("processes", &table);
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

/// The tasks of a variant in a cell, of all restarts.
fn tasks_of(study: &Study, variant: &str, cell: &Cell) -> Vec<Task> {
    let runs = study.runs(variant, cell).into_iter();
    runs.filter_map(|one| tasks(&one.row.samples)).flatten().collect()
}

/// How a picture's cells were run, for its caption.
fn scale(study: &Study) -> String {
    let file = &study.frame.run_file;
    let smoke = file.profile.as_ref().map_or(String::new(), |name| format!("; profile {name}"));
    let plural = if file.blocks == 1 { "" } else { "s" };
    format!("{} restart{plural} on {} CPUs{smoke}", file.blocks, file.machine.cpus)
}
