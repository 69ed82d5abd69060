//! The `schedulers` family: run a piece of work inline, or offload it.

mod check;
mod costs;
mod metrics;
mod report;
mod section;
mod slim;
mod steps;

use lab_family::{Account, Definition, Factor, Family, section, section_schema};
use lab_protocol::schedulers::names;

use crate::schedulers::{metrics::METRICS, section::SchedulersSection};

/// The policy that knows what both arms will cost: a yardstick and no candidate. By name, because
/// the committed records give it no tag of its own.
pub(crate) const ORACLE: &str = "oracle";

/// The two policies that decide nothing: what every choice is measured against. By name, because
/// the committed records give them no tag of their own.
pub(crate) const FIXED_ARMS: [&str; 2] = ["always_inline", "always_offload"];

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Schedulers;

impl Family for Schedulers {
    fn definition(&self) -> &'static Definition {
        &Definition {
            name: "schedulers",
            former_names: &["offload"],
            factors: FACTORS,
            adjacent_factor: None,
            metrics: METRICS,
            section: section::<SchedulersSection>,
            section_schema: section_schema::<SchedulersSection>,
        }
    }

    fn laws(&self, account: &Account<'_>) -> Result<(), String> {
        account.common()?;
        account.column_of_cpu_at_most_counted(names::CPU_NS)?;
        account.durations(&DURATIONS, account.run.process_ns)
    }
}

/// Columns of times that passed within the process's life.
const DURATIONS: [&str; 4] =
    [names::BATCH_NS, names::JOB_LATENCY_NS, names::JOB_WORK_NS, names::TICK_LATENCY_NS];

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::new("test"),
    Factor::words("part", &["cold", "choose", "cycle", "single"]),
    Factor::new("deciders"),
    Factor::words(
        "costs",
        &[
            "steady_small",
            "inline_240_offload_30",
            "slow",
            "shift",
            "shift_once",
            "drift",
            "bimodal",
            "by_size",
            "many_sites",
            "recorded",
        ],
    ),
    Factor::words("work", &["fast", "medium", "slow", "mixed"]),
    Factor::new("concurrency"),
    Factor::new("order"),
    Factor::words(
        "load",
        &[
            "idle",
            "block_3ms",
            "closed_4",
            "closed_12",
            "closed_20",
            "closed_40",
            "closed_80",
            "rate_100",
            "rate_1000",
            "rate_4000",
            "rate_8000",
            "rate_20000",
        ],
    ),
    Factor::new("tokio_workers"),
    Factor::new("rayon_threads"),
    Factor::new(PINNED),
];
/// Records from before threads could be pinned have no level of it.
const PINNED: &str = "pinned";
