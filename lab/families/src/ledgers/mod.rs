//! The `ledgers` family: many small transactions on a pool of workers.

mod check;
mod metrics;
mod report;
mod section;
mod slim;

use lab_family::{Definition, Factor, Family, section, section_schema};

use crate::ledgers::{metrics::METRICS, section::LedgersSection};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Ledgers;

impl Family for Ledgers {
    fn definition(&self) -> &'static Definition {
        &Definition {
            name: "ledgers",
            former_names: &[],
            factors: FACTORS,
            adjacent_factor: None,
            metrics: METRICS,
            section: section::<LedgersSection>,
            section_schema: section_schema::<LedgersSection>,
        }
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
