//! The `ledgers` family: many small transactions on a pool of workers.

mod check;
mod metrics;
mod report;
mod section;
mod slim;

use lab_family::{Cell, Factor, Family, InputError, Metric, Section};
use lab_record::{Run, Samples, VariantEntry};
use lab_report::measure::Measured;
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::{FamilyReport, Frame, Row};
use toml::Table;

use crate::{metrics::METRICS, section::LedgersSection};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Ledgers;

impl Family for Ledgers {
    fn name(&self) -> &'static str {
        "ledgers"
    }

    fn factors(&self) -> &'static [Factor] {
        FACTORS
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn section(&self, file: &str, table: &Table) -> Result<Box<dyn Section>, InputError> {
        let section: LedgersSection =
            table.clone().try_into().map_err(|error| InputError::text(file, &error))?;
        section.check(file)?;
        Ok(Box::new(section))
    }
}

impl FamilyReport for Ledgers {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        section: &Table,
        keep: &dyn Fn(&Row) -> bool,
    ) -> Vec<Measured<'a>> {
        metrics::measure(frame, section, keep)
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        report::chapters(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        report::run_facts(study)
    }

    fn lab_checks(&self, study: &Study) -> Vec<String> {
        report::busy_work(study).into_iter().collect()
    }

    /// What is done first, then every level that is not the default.
    fn label(&self, cell: &Cell, defaults: &Cell) -> String {
        let level = |factor: &str| cell.get(factor).map_or("?", String::as_str);
        let plural = |count: &str| if count == "1" { "" } else { "s" };
        let (streams, transactions) = (level("streams"), level("transactions"));
        let mut text = format!("{streams} stream{} × {transactions}", plural(streams));
        text.push_str(&format!(", {}, {}", level("contention"), level("kinds")));
        for (name, level) in FACTORS.iter().filter_map(|f| Some((f.name, cell.get(f.name)?))) {
            match name {
                "contention" | "kinds" | "transactions" | "streams" => {}
                "workers" => text.push_str(&format!(", {level} worker{}", plural(level))),
                _ if defaults.get(name) == Some(level) => {}
                "work_ns" => text.push_str(&format!(", work {level} ns")),
                _ => text.push_str(&format!(", {name} {level}")),
            }
        }
        text
    }

    /// The harness keeps no ledger, so it answers another question.
    fn is_candidate(&self, entry: &VariantEntry) -> bool {
        !entry.tags.iter().any(|tag| tag == HARNESS_TAG)
    }

    fn slim(&self, _run: &Run, samples: Samples) -> Samples {
        slim::middle_repetitions(samples)
    }
}

/// A variant with this tag measures the harness: it does no work and has no answer.
const HARNESS_TAG: &str = "harness";

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::new("contention"),
    Factor::new("kinds"),
    Factor::new("transactions"),
    Factor::new("streams"),
    Factor::new("work_ns"),
    Factor::new("workers"),
    Factor::new("pinned"),
    Factor::new("spawn"),
    Factor::new("shards"),
    Factor::new("locks"),
];
