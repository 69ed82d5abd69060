//! The `engines` family: a query over a folder of JSON Lines.

#![forbid(unsafe_code)]

mod check;
mod metrics;
mod report;
mod section;

use lab_family::{Definition, Factor, Family, section};

use crate::{metrics::METRICS, section::EnginesSection};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Engines;

impl Family for Engines {
    fn definition(&self) -> &'static Definition {
        &Definition {
            name: "engines",
            former_names: &["search"],
            factors: FACTORS,
            adjacent_factor: None,
            metrics: METRICS,
            section: section::<EnginesSection>,
        }
    }
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
