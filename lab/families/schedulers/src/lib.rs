//! The `schedulers` family: run a piece of work inline, or offload it.

mod check;
mod costs;
mod metrics;
mod report;
mod section;
mod slim;
mod steps;

use lab_family::{Cell, Factor, Family, InputError, Metric, Section};
use lab_record::{Run, Samples, VariantEntry};
use lab_report::{
    FamilyReport, Frame, Row, frame::is_analysed, measure::Measured, page::Page, study::Study,
};
use toml::Table;

use crate::{metrics::METRICS, section::SchedulersSection};

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
    fn name(&self) -> &'static str {
        "schedulers"
    }

    fn former_names(&self) -> &'static [&'static str] {
        &["offload"]
    }

    fn factors(&self) -> &'static [Factor] {
        FACTORS
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn section(&self, file: &str, table: &Table) -> Result<Box<dyn Section>, InputError> {
        let section: SchedulersSection =
            table.clone().try_into().map_err(|error| InputError::text(file, &error))?;
        section.check(file)?;
        Ok(Box::new(section))
    }
}

impl FamilyReport for Schedulers {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        _section: &Table,
        keep: &dyn Fn(&Row) -> bool,
    ) -> Vec<Measured<'a>> {
        let rows = frame.in_plan_order().into_iter();
        let kept = rows.filter(|row| is_analysed(&row.run) && keep(row));
        kept.map(|row| Measured::new(row, metrics::of_run(row))).collect()
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        report::write(study, page);
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        report::run_facts(study)
    }

    fn lab_checks(&self, study: &Study) -> Vec<String> {
        report::oracle_regret(study).into_iter().collect()
    }

    fn label(&self, cell: &Cell, _defaults: &Cell) -> String {
        report::label(cell)
    }

    fn is_candidate(&self, entry: &VariantEntry) -> bool {
        entry.variant != ORACLE
    }

    fn slim(&self, run: &Run, samples: Samples) -> Samples {
        slim::slim(run, samples)
    }
}

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::new("test"),
    Factor::words("part", &["cold", "choose", "cycle"]),
    Factor::new("deciders"),
    Factor::words(
        "costs",
        &[
            "steady_small",
            "inline_240_offload_30",
            "slow",
            "shift",
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
        &["idle", "block_3ms", "closed_4", "closed_12", "closed_20", "closed_40", "closed_80"],
    ),
    Factor::new("tokio_workers"),
    Factor::new("rayon_threads"),
];
