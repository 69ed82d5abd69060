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

use lab_family::{Account, Definition, Factor, Family, section, section_schema};
use lab_protocol::workflows::names;

use crate::workflows::{metrics::METRICS, section::WorkflowsSection};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Workflows;

impl Family for Workflows {
    fn definition(&self) -> &'static Definition {
        &Definition {
            name: "workflows",
            former_names: &["workflow"],
            factors: FACTORS,
            adjacent_factor: None,
            metrics: METRICS,
            section: section::<WorkflowsSection>,
            section_schema: section_schema::<WorkflowsSection>,
        }
    }

    fn laws(&self, account: &Account<'_>) -> Result<(), String> {
        account.common()?;
        let times = [&check::STEP_TIMES[..], &check::TASK_TIMES, &[names::TASK_ACCEPTED_NS]];
        account.span_within_life(&times.concat())?;
        let pairs = [check::STEP_TIMES.windows(2), check::TASK_TIMES.windows(2)];
        pairs.into_iter().flatten().try_for_each(|pair| account.in_order(pair[0], pair[1]))
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
    Factor::words(WIRE, &["pipe", "http"]),
    Factor::new(FALLBACK),
    Factor::words(
        BESIDE,
        &[
            "nothing",
            "loud_log",
            "quiet_log",
            "locked_counts",
            "atomic_counts",
            "locked_map",
            "sharded_map",
            "blocking_breaker",
            "direct_breaker",
            "pool_statistics",
        ],
    ),
];
/// Records from before these three have no level of them.
const WIRE: &str = "wire";
const FALLBACK: &str = "fallback_ms";
const BESIDE: &str = "beside";
