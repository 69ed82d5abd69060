//! A sweep, measured and judged: what all sections read.

use lab_record::{Comparison, Pairing, Scale};
use lab_stats::describe::median;
use lab_stats::verdict::Verdict;

use crate::aa::AaTest;
use crate::compare::{Line, compare, takes_part};
use crate::frame::{Frame, Row, is_gated, is_solo};
use crate::measure::{Measured, Unit, measure, unit};
use crate::tables::{show, show_difference, show_p, show_percent};

/// Below this overlap of their agents a variant's runs are serial, whatever it calls itself.
const SERIAL_OVERLAP: f64 = 0.05;

/// The cell in real time is ours and not TR115's: equal reply lengths, for lag and CPU verdicts.
const ANCHOR: &str = "anchor";

/// A sweep, measured and judged.
pub(super) struct Study<'a> {
    pub(super) frame: &'a Frame,
    pub(super) rows: Vec<&'a Row>,
    /// Every run that enters the analysis.
    pub(super) all: Vec<Measured<'a>>,
    pub(super) judged: Vec<Judged<'a>>,
}

/// One declared comparison with its verdicts.
pub(super) struct Judged<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) lines: Vec<Line>,
    pub(super) aa: Vec<(&'a str, AaTest)>,
    /// Median over runs of the server's pacing error p99, for metrics that depend on its stamps.
    pub(super) pacing_p99_ns: Option<f64>,
}

impl<'a> Study<'a> {
    pub(super) fn of(frame: &'a Frame) -> Self {
        let rows = frame.in_plan_order();
        let all = measure(&rows, |_| true);
        let clean = measure(&rows, |row| !is_gated(&row.run));
        let comparisons = frame.run_file.analysis.comparisons.iter();
        let judged = comparisons.map(|comparison| judge(frame, &all, &clean, comparison)).collect();
        Self { frame, rows, all, judged }
    }

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

    /// The variants that have at least one analysed run, in the order of the sweep.
    pub(super) fn measured_variants(&self) -> Vec<&'a str> {
        let has_run = |variant: &&str| self.all.iter().any(|one| one.variant() == *variant);
        self.frame.variants().into_iter().filter(has_run).collect()
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

impl Judged<'_> {
    pub(super) fn unit(&self) -> Unit {
        unit(&self.comparison.metric)
    }

    /// A difference on the comparison's scale, for people.
    pub(super) fn show(&self, difference: f64) -> String {
        match self.comparison.scale {
            Scale::Ratio => show_percent(difference.exp_m1()),
            Scale::Difference => show_difference(difference, self.unit()),
        }
    }

    pub(super) fn show_margin(&self) -> String {
        let margin = self.comparison.margin;
        match (self.comparison.scale, self.unit()) {
            (Scale::Ratio, _) => format!("±{} %", 100.0 * margin),
            (Scale::Difference, Unit::Share) => format!("±{} pp", 100.0 * margin),
            (Scale::Difference, unit) => format!("±{}", show(margin, unit)),
        }
    }

    /// The variants with a verdict's word.
    pub(super) fn with_verdict(&self, word: &str) -> Vec<&Line> {
        let says = |line: &&Line| line.verdict.as_ref().is_some_and(|v| word_of(v) == word);
        self.lines.iter().filter(says).collect()
    }
}

/// Whether a run stands for a configuration of TR115.
pub(super) fn is_of_tr115(one: &Measured) -> bool {
    one.row.run.cell.get("config").is_none_or(|config| config != ANCHOR)
}

/// The verdict in one word, without the reason of a withheld one.
pub(super) fn word_of(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Withheld { .. } => "withheld".to_owned(),
        other => other.to_string(),
    }
}

fn judge<'a>(
    frame: &'a Frame,
    all: &[Measured],
    clean: &[Measured],
    comparison: &'a Comparison,
) -> Judged<'a> {
    let analysis = &frame.run_file.analysis;
    let seed = frame.run_file.seed;
    let variants = frame.variants().into_iter();
    let candidates: Vec<&str> =
        variants.filter(|name| *name != analysis.reference && !frame.is_twin(name)).collect();
    let mut lines = compare(all, clean, comparison, analysis, &candidates, seed);
    let aa: Vec<(&str, AaTest)> = frame
        .twins()
        .into_iter()
        .map(|pair| (pair.0, AaTest::of(all, comparison, analysis.pairing, pair, seed)))
        .collect();
    let failed = aa.iter().find(|(_, test)| test.failed());
    let alarm = failed.map(|(twin, test)| {
        format!("A/A failed (`{twin}`, p {})", show_p(test.p.unwrap_or_default()))
    });
    let pacing_p99_ns = is_lag(comparison).then(|| pacing(all, comparison)).flatten();
    let reference_ns = reference_level(all, comparison, &analysis.reference);
    for line in &mut lines {
        let coarse = too_coarse(line, comparison, pacing_p99_ns, reference_ns);
        let reason = alarm.clone().or(coarse);
        line.verdict = line.verdict.take().map(|v| v.withheld_for(reason.as_deref()));
    }
    Judged { comparison, lines, aa, pacing_p99_ns }
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

/// Whether the analysis compares independent samples.
pub(super) fn is_unpaired(frame: &Frame) -> bool {
    frame.run_file.analysis.pairing == Pairing::Unpaired
}
