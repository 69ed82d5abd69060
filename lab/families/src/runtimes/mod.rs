//! The `runtimes` family: LLM agents that stream replies from Ollama servers.

mod cells;
mod check;
mod choose;
mod efficiency;
mod laws;
mod levels;
mod metrics;
mod prompts;
mod replay;
mod report;
mod samples;
mod section;
mod slim;
mod table;

use lab_family::{Account, Definition, Factor, Family, section, section_schema};

pub use crate::runtimes::table::Table as Configurations;
use crate::runtimes::{metrics::METRICS, section::RuntimesSection};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Runtimes;

impl Family for Runtimes {
    fn definition(&self) -> &'static Definition {
        &Definition {
            name: "runtimes",
            former_names: &["agents"],
            factors: FACTORS,
            adjacent_factor: Some("arrangement"),
            metrics: METRICS,
            section: section::<RuntimesSection>,
            section_schema: section_schema::<RuntimesSection>,
        }
    }

    fn laws(&self, account: &Account<'_>) -> Result<(), String> {
        account.common()?;
        laws::hold(account)
    }
}

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::new("config"),
    Factor::words("arrangement", &["concurrent", "solo"]),
    Factor::new(levels::AGENTS),
    Factor::new(levels::SERVERS),
    Factor::words(prompts::PROMPT, &prompts::PROMPTS),
    Factor::new(levels::BUFFER),
    Factor::new(levels::WORK),
    Factor::words(levels::BUSY, &levels::BUSY_AGENTS),
    Factor::words(levels::NEIGHBOUR, &levels::NEIGHBOURS),
    Factor::words(levels::DROP, &levels::DROPS),
    Factor::new(levels::ARRIVALS),
    Factor::new("repeat"),
];
