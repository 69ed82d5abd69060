//! A sweep, measured and judged: what all sections of a report read.

use lab_record::{Comparison, Pairing, Scale};
use lab_stats::verdict::Verdict;

use crate::aa::AaTest;
use crate::compare::{Line, compare};
use crate::frame::{Frame, Row, is_gated};
use crate::measure::{Measured, Unit, unit};
use crate::tables::{show, show_difference, show_p, show_percent};

/// A sweep, measured and judged.
pub(crate) struct Study<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) rows: Vec<&'a Row>,
    /// Every run that enters the analysis.
    pub(crate) all: Vec<Measured<'a>>,
    /// Of those, the runs that passed the noise gate, measured without the others.
    pub(crate) clean: Vec<Measured<'a>>,
    pub(crate) judged: Vec<Judged<'a>>,
}

/// One declared comparison with its verdicts.
pub(crate) struct Judged<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) lines: Vec<Line>,
    pub(crate) aa: Vec<(&'a str, AaTest)>,
    /// What a family has to say about how it was measured.
    pub(crate) note: Option<String>,
}

/// A family's own reason to withhold a verdict.
pub(crate) type Doubt<'d> = &'d dyn Fn(&Line) -> Option<String>;

impl<'a> Study<'a> {
    /// A sweep whose runs a family has measured; `measure` is given the runs to keep.
    pub(crate) fn of(
        frame: &'a Frame,
        measure: impl Fn(&[&'a Row], &dyn Fn(&Row) -> bool) -> Vec<Measured<'a>>,
    ) -> Self {
        let rows = frame.in_plan_order();
        let all = measure(&rows, &|_| true);
        let clean = measure(&rows, &|row| !is_gated(&row.run));
        Self { frame, rows, all, clean, judged: Vec::new() }
    }

    /// The variants that have at least one analysed run, in the order of the sweep.
    pub(crate) fn measured_variants(&self) -> Vec<&'a str> {
        let has_run = |variant: &&str| self.all.iter().any(|one| one.variant() == *variant);
        self.frame.variants().into_iter().filter(has_run).collect()
    }

    /// Judges a declared comparison. Twins are never candidates: they say whether the lab works.
    pub(crate) fn judge(
        &self,
        comparison: &'a Comparison,
        candidates: &[&str],
        doubt: Doubt,
        note: Option<String>,
    ) -> Judged<'a> {
        let analysis = &self.frame.run_file.analysis;
        let seed = self.frame.run_file.seed;
        let mut lines = compare(&self.all, &self.clean, comparison, analysis, candidates, seed);
        let aa: Vec<(&str, AaTest)> = self
            .frame
            .twins()
            .into_iter()
            .map(|pair| (pair.0, AaTest::of(&self.all, comparison, analysis.pairing, pair, seed)))
            .collect();
        let failed = aa.iter().find(|(_, test)| test.failed());
        let alarm = failed.map(|(twin, test)| {
            format!("A/A failed (`{twin}`, p {})", show_p(test.p.unwrap_or_default()))
        });
        for line in &mut lines {
            let reason = alarm.clone().or_else(|| doubt(line));
            line.verdict = line.verdict.take().map(|v| v.withheld_for(reason.as_deref()));
        }
        Judged { comparison, lines, aa, note }
    }

    /// The variants that a comparison can judge: neither the reference nor a twin.
    pub(crate) fn candidates(&self) -> Vec<&'a str> {
        let reference = &self.frame.run_file.analysis.reference;
        let variants = self.frame.variants().into_iter();
        variants.filter(|name| name != reference && !self.frame.is_twin(name)).collect()
    }
}

impl Judged<'_> {
    pub(crate) fn unit(&self) -> Unit {
        unit(&self.comparison.metric)
    }

    /// A difference on the comparison's scale, for people.
    pub(crate) fn show(&self, difference: f64) -> String {
        show_on(self.comparison.scale, &self.comparison.metric, difference)
    }

    pub(crate) fn show_margin(&self) -> String {
        let margin = self.comparison.margin;
        match (self.comparison.scale, self.unit()) {
            (Scale::Ratio, _) => format!("±{} %", 100.0 * margin),
            (Scale::Difference, Unit::Share) => format!("±{} pp", 100.0 * margin),
            (Scale::Difference, unit) => format!("±{}", show(margin, unit)),
        }
    }

    /// The variants with a verdict's word.
    pub(crate) fn with_verdict(&self, word: &str) -> Vec<&Line> {
        let says = |line: &&Line| line.verdict.as_ref().is_some_and(|v| word_of(v) == word);
        self.lines.iter().filter(says).collect()
    }
}

/// A difference on a scale, for people: percent for ratios, the metric's unit otherwise.
pub(crate) fn show_on(scale: Scale, metric: &str, difference: f64) -> String {
    match scale {
        Scale::Ratio => show_percent(difference.exp_m1()),
        Scale::Difference => show_difference(difference, unit(metric)),
    }
}

/// The verdict in one word, without the reason of a withheld one.
pub(crate) fn word_of(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Withheld { .. } => "withheld".to_owned(),
        other => other.to_string(),
    }
}

/// Whether the analysis compares independent samples.
pub(crate) fn is_unpaired(frame: &Frame) -> bool {
    frame.run_file.analysis.pairing == Pairing::Unpaired
}
