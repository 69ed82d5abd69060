//! The `runtimes` family: LLM agents that stream replies from Ollama servers.

mod cells;
mod check;
mod efficiency;
mod laws;
mod metrics;
mod report;
mod samples;
mod section;
mod slim;

use lab_family::{Account, Factor, Family, InputError, Metric, Section};
use lab_record::{Comparison, Run, Samples};
use lab_report::compare::Line;
use lab_report::measure::Measured;
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::{FamilyReport, Frame, Row};
use toml::Table;

use crate::{metrics::METRICS, section::RuntimesSection};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Runtimes;

impl Family for Runtimes {
    fn name(&self) -> &'static str {
        "runtimes"
    }

    fn former_names(&self) -> &'static [&'static str] {
        &["agents"]
    }

    fn factors(&self) -> &'static [Factor] {
        FACTORS
    }

    fn adjacent_factor(&self) -> Option<&'static str> {
        Some("arrangement")
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn laws(&self, account: &Account<'_>) -> Result<(), String> {
        account.common()?;
        laws::hold(account)
    }

    fn section(&self, file: &str, table: &Table) -> Result<Box<dyn Section>, InputError> {
        let section: RuntimesSection =
            table.clone().try_into().map_err(|error| InputError::text(file, &error))?;
        section.check(file)?;
        Ok(Box::new(section))
    }
}

impl FamilyReport for Runtimes {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        _section: &Table,
        keep: &dyn Fn(&Row) -> bool,
    ) -> Vec<Measured<'a>> {
        metrics::measure(&frame.in_plan_order(), keep)
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        report::write(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        report::run_facts(study)
    }

    fn lab_checks(&self, study: &Study) -> Vec<String> {
        report::lab_checks(study)
    }

    fn doubt(&self, study: &Study, comparison: &Comparison, line: &Line) -> Option<String> {
        report::too_coarse(study, comparison, line)
    }

    fn note(&self, study: &Study, comparison: &Comparison) -> Option<String> {
        report::pacing_note(study, comparison)
    }

    fn slim(&self, run: &Run, samples: Samples) -> Samples {
        slim::slim(run, samples)
    }
}

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::new("config"),
    Factor::words("arrangement", &["concurrent", "solo"]),
    Factor::new("servers"),
    Factor::new("repeat"),
];
