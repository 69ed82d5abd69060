//! The `engines` family: a query over a folder of JSON Lines.

mod check;
mod metrics;
mod report;
mod section;

use lab_family::{Cell, Factor, Family, InputError, Metric, Section};
use lab_record::VariantEntry;
use lab_report::measure::Measured;
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::{FamilyReport, Frame, Row};
use toml::Table;

use crate::{
    metrics::METRICS,
    section::{EnginesSection, PEER_TAG},
};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Engines;

impl Family for Engines {
    fn name(&self) -> &'static str {
        "engines"
    }

    fn former_names(&self) -> &'static [&'static str] {
        &["search"]
    }

    fn factors(&self) -> &'static [Factor] {
        FACTORS
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn section(&self, file: &str, table: &Table) -> Result<Box<dyn Section>, InputError> {
        let refused = |error: toml::de::Error| {
            InputError::value(file, self.name(), error.to_string().trim_end())
        };
        let section: EnginesSection = table.clone().try_into().map_err(refused)?;
        section.check(file)?;
        Ok(Box::new(section))
    }
}

impl FamilyReport for Engines {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        _section: &Table,
        keep: &dyn Fn(&Row) -> bool,
    ) -> Vec<Measured<'a>> {
        metrics::measure(frame, keep)
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        report::chapters(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        report::run_facts(study)
    }

    fn lab_checks(&self, _study: &Study) -> Vec<String> {
        vec![
            "An engine's run is verified where its reported lines and its counts are the floor's; \
             a peer's count is held beside the floor's and is no ground to refuse it."
                .to_owned(),
        ]
    }

    /// What is searched first, then every level that is not the default.
    fn label(&self, cell: &Cell, defaults: &Cell) -> String {
        let part = |factor: &Factor| match (factor.name, cell.get(factor.name)?.as_str()) {
            ("corpus" | "query", level) => Some(level.to_owned()),
            ("threads", "1") => Some("1 thread".to_owned()),
            ("threads", level) => Some(format!("{level} threads")),
            (name, level) => {
                let is_default = defaults.get(name).is_some_and(|default| default == level);
                (!is_default).then(|| format!("{name} {level}"))
            }
        };
        FACTORS.iter().filter_map(part).collect::<Vec<_>>().join(", ")
    }

    /// A peer answers another question.
    fn is_candidate(&self, entry: &VariantEntry) -> bool {
        !is_peer(entry)
    }
}

fn is_peer(entry: &VariantEntry) -> bool {
    entry.tags.iter().any(|tag| tag == PEER_TAG)
}

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::new("corpus"),
    Factor::new("query"),
    Factor::new("threads"),
    Factor::new(READ),
    Factor::new("chunk"),
    Factor::new("buffer_bytes"),
    Factor::new("channel_bound"),
    Factor::new("semaphore"),
    Factor::new("result_capacity"),
    Factor::new("prefilter"),
    Factor::new("parser"),
    Factor::new("advise"),
    Factor::new("cache"),
];
/// The factors that say what is searched and by how many; the others say how.
const PLACE: [&str; 3] = ["corpus", "query", "threads"];
/// How files are read. A program that reads one way alone stands beside those that read both ways.
const READ: &str = "read";
const PLACE_AND_READ: [&str; 4] = ["corpus", "query", "threads", READ];
