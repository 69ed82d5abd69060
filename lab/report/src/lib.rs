//! Records in, Markdown and TSV out. Pure: a report is a function of a [`Frame`] and of nothing
//! else.
//!
//! This crate must never know a clock, an environment, a process or a network; the only disk it
//! sees is the results folder that [`Frame::load`] reads. Pictures are drawn elsewhere, by gnuplot
//! scripts that hold the look and never a statistic: every number in a picture stands in a TSV
//! file written here.

mod aa;
mod agents;
mod compare;
mod contrast;
mod effect;
pub mod efficiency;
mod engines;
mod frame;
mod ledgers;
mod measure;
pub mod metrics;
mod noise;
mod page;
mod published;
mod reading;
mod schedulers;
mod slim;
mod study;
mod tables;
mod verdicts;
mod workflows;
mod working;

use std::collections::BTreeMap;

pub use agents::METRICS;
pub use engines::METRICS as ENGINE_METRICS;
pub use frame::{Frame, Row};
pub use ledgers::METRICS as LEDGER_METRICS;
pub use schedulers::METRICS as SCHEDULER_METRICS;
pub use slim::slim;
pub use workflows::METRICS as WORKFLOW_METRICS;

/// What a folder of records says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// `report.md`.
    pub markdown: String,
    /// Tables by file name, tab-separated with a header line, values unrounded.
    pub tables: BTreeMap<String, String>,
    /// The pictures that the Markdown refers to.
    pub figures: Vec<Figure>,
}

/// One picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The file that the Markdown refers to, beside it, for example `efficiency.svg`.
    pub file: String,
    /// The script in `plots/` that draws it: `gnuplot -c SCRIPT TSV_FOLDER OUT_FOLDER`.
    pub script: String,
    /// What it shows, and the time scale of its cells.
    pub caption: String,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReportError {
    /// The folder holds no run at all.
    #[error("experiment {experiment}: runs.jsonl holds no run; go on with `lab run --resume`")]
    NoRuns {
        /// The experiment's name.
        experiment: String,
    },
    /// Nobody wrote a report for this family.
    #[error(
        "experiment {experiment}: there is no report for the family `{family}`; \
         known are runtimes, engines, ledgers, schedulers and workflows"
    )]
    UnknownFamily {
        /// The experiment's name.
        experiment: String,
        /// The family of its first variant; empty where `run.json` names no variant.
        family: String,
    },
}

/// Reports on a sweep, by the family of its variants. Variants, cells and metrics that are missing
/// are named as missing; they are no error.
///
/// # Errors
/// Where there is no run at all, or no report for the family.
pub fn report(frame: &Frame) -> Result<Report, ReportError> {
    let experiment = frame.run_file.experiment.clone();
    if frame.rows.is_empty() {
        return Err(ReportError::NoRuns { experiment });
    }
    let family = frame.run_file.variants.first().map_or("", |entry| entry.family.as_str());
    match family {
        "runtimes" => Ok(agents::report(frame)),
        "engines" => Ok(engines::report(frame)),
        "ledgers" => Ok(ledgers::report(frame)),
        "schedulers" => Ok(schedulers::report(frame)),
        "workflows" => Ok(workflows::report(frame)),
        other => Err(ReportError::UnknownFamily { experiment, family: other.to_owned() }),
    }
}
