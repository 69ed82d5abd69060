//! A sweep of agents, measured and judged.

use lab_record::{Comparison, Scale};
use lab_stats::describe::median;

use super::measure::measure;
use crate::compare::{Line, takes_part};
use crate::frame::{Frame, is_solo};
use crate::measure::{Measured, Unit};
use crate::study::{Judged, Study};
use crate::tables::show;

/// Below this overlap of their agents a variant's runs are serial, whatever it calls itself.
const SERIAL_OVERLAP: f64 = 0.05;

/// The cell in real time is ours and not TR115's: equal reply lengths, for lag and CPU verdicts.
const ANCHOR: &str = "anchor";

/// Measures and judges.
pub(super) fn of(frame: &Frame) -> Study<'_> {
    let mut study = Study::of(frame, |rows, keep| measure(rows, keep));
    let comparisons = frame.run_file.analysis.comparisons.iter();
    study.judged = comparisons.map(|comparison| judge(&study, comparison)).collect();
    study
}

impl<'a> Study<'a> {
    /// Runs whose agents were to overlap.
    pub(super) fn concurrent(&self) -> impl Iterator<Item = &Measured<'a>> {
        self.all.iter().filter(|one| !is_solo(&one.row.run))
    }

    pub(super) fn concurrent_of(&self, variant: &str) -> impl Iterator<Item = &Measured<'a>> {
        self.concurrent().filter(move |one| one.variant() == variant)
    }

    /// A metric over a variant's concurrent runs, in the order of the plan.
    pub(super) fn values(&self, variant: &str, metric: &str) -> Vec<f64> {
        self.concurrent_of(variant).filter_map(|one| one.value(metric)).collect()
    }

    pub(super) fn median(&self, variant: &str, metric: &str) -> Option<f64> {
        median(&self.values(variant, metric))
    }

    /// Whether a variant runs its agents one after the other, by what its runs show.
    pub(super) fn is_serial(&self, variant: &str) -> bool {
        self.median(variant, "agent_overlap_share").is_some_and(|share| share < SERIAL_OVERLAP)
    }

    /// A variant that does what the report describes: neither copy, nor floor, nor published code.
    pub(super) fn is_as_described(&self, variant: &str) -> bool {
        let floor = self.frame.run_file.analysis.floor.as_deref();
        !self.frame.is_twin(variant)
            && !self.frame.is_as_published(variant)
            && Some(variant) != floor
    }
}

/// Whether a run stands for a configuration of TR115.
pub(super) fn is_of_tr115(one: &Measured) -> bool {
    one.row.run.cell.get("config").is_none_or(|config| config != ANCHOR)
}

fn judge<'a>(study: &Study<'a>, comparison: &'a Comparison) -> Judged<'a> {
    let reference = &study.frame.run_file.analysis.reference;
    let pacing_p99_ns = is_lag(comparison).then(|| pacing(&study.all, comparison)).flatten();
    let reference_ns = reference_level(&study.all, comparison, reference);
    let doubt = |line: &Line| too_coarse(line, comparison, pacing_p99_ns, reference_ns);
    let note = pacing_p99_ns.map(|pacing_ns| {
        format!(
            "The server's pacing error p99 was {} (median over runs); a verdict stands only where \
             four times that is below the difference being judged.",
            show(pacing_ns, Unit::Ns)
        )
    });
    study.judge(comparison, &study.candidates(), &doubt, note)
}

fn is_lag(comparison: &Comparison) -> bool {
    comparison.metric.starts_with("delivery_lag")
}

fn pacing(all: &[Measured], comparison: &Comparison) -> Option<f64> {
    let taking_part = all.iter().filter(|one| takes_part(comparison, &one.row.run.cell));
    let errors = taking_part.filter_map(|one| one.value("server_pacing_error_p99_ns"));
    median(&errors.collect::<Vec<_>>())
}

fn reference_level(all: &[Measured], comparison: &Comparison, reference: &str) -> Option<f64> {
    let runs = all.iter().filter(|one| one.variant() == reference);
    let taking_part = runs.filter(|one| takes_part(comparison, &one.row.run.cell));
    median(&taking_part.filter_map(|one| one.value(&comparison.metric)).collect::<Vec<_>>())
}

/// A lag verdict rests on the server's stamps: it is withheld where the server's own pacing error
/// exceeds a quarter of the difference being judged, which is the estimate or, where that is
/// smaller, the margin.
fn too_coarse(
    line: &Line,
    comparison: &Comparison,
    pacing_p99_ns: Option<f64>,
    reference_ns: Option<f64>,
) -> Option<String> {
    let estimate = line.shift?.estimate;
    let judged_ns = match comparison.scale {
        Scale::Difference => estimate.abs().max(comparison.margin),
        Scale::Ratio => estimate.exp_m1().abs().max(comparison.margin) * reference_ns?,
    };
    let pacing_ns = pacing_p99_ns?;
    (pacing_ns > judged_ns / 4.0).then(|| {
        format!(
            "server pacing error p99 {} exceeds a quarter of {}",
            show(pacing_ns, Unit::Ns),
            show(judged_ns, Unit::Ns)
        )
    })
}
