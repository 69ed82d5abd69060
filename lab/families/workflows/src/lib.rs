//! The `workflows` family: tasks of several steps through a back end.

mod check;
mod metrics;
mod path;
mod report;
mod section;
mod shape;
mod slim;
mod task;
mod values;

use lab_family::{Cell, Factor, Family, InputError, Metric, Section};
use lab_record::{Run, Samples};
use lab_report::{FamilyReport, Frame, Row, measure::Measured, page::Page, study::Study};
use toml::Table;

use crate::{metrics::METRICS, section::WorkflowsSection};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Workflows;

impl Family for Workflows {
    fn name(&self) -> &'static str {
        "workflows"
    }

    fn former_names(&self) -> &'static [&'static str] {
        &["workflow"]
    }

    fn factors(&self) -> &'static [Factor] {
        FACTORS
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn section(&self, file: &str, table: &Table) -> Result<Box<dyn Section>, InputError> {
        let section: WorkflowsSection =
            table.clone().try_into().map_err(|error| InputError::text(file, &error))?;
        section.check(file)?;
        Ok(Box::new(section))
    }
}

impl FamilyReport for Workflows {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        section: &Table,
        keep: &dyn Fn(&Row) -> bool,
    ) -> Vec<Measured<'a>> {
        metrics::measure(frame, &shape::stored(section), keep)
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        report::chapters(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        report::run_facts(study)
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

    fn slim(&self, _run: &Run, samples: Samples) -> Samples {
        slim::from_the_first_task(samples)
    }
}

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::words(
        "shape",
        &["linear", "diamond", "conditional", "complex_dag", "hierarchical_tree", "csv_batch"],
    ),
    Factor::new("in_flight"),
    Factor::new("poll_ms"),
    Factor::new("workers"),
    Factor::new("processes"),
    Factor::new("worker"),
];
