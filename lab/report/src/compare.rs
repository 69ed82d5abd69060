//! The declared comparisons: every variant against the reference, over all (cell × block) pairs.

use std::collections::BTreeMap;

use lab_record::{Analysis, Comparison, Pairing, Scale};
use lab_stats::equivalence::{self, Equivalence};
use lab_stats::interval::FEWEST_FOR_INTERVAL;
use lab_stats::multiple::holm;
use lab_stats::paired::{self, ShiftEstimate};
use lab_stats::power::{minimum_detectable_effect, minimum_detectable_effect_unpaired};
use lab_stats::unpaired;
use lab_stats::verdict::{Evidence, Verdict, judge};

use crate::frame::cell_but;
use crate::measure::{Measured, direction};

/// The power that "detectable" is stated for.
pub(crate) const POWER: f64 = 0.8;

/// What is known of one variant against the reference. Differences are on the comparison's scale:
/// logarithms of ratios, or the metric's unit.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) variant: String,
    /// Pairs, or the smaller of two independent samples.
    pub(crate) n: usize,
    pub(crate) shift: Option<ShiftEstimate>,
    pub(crate) p_adjusted: Option<f64>,
    pub(crate) equivalence: Option<Equivalence>,
    /// The smallest true difference that would have been found with a power of 80 %.
    pub(crate) detectable: Option<f64>,
    /// `None` where there are fewer than six pairs.
    pub(crate) verdict: Option<Verdict>,
    /// The same over the runs that passed the noise gate, before the two are put together.
    pub(crate) gated: Option<(usize, Option<Verdict>)>,
}

/// Two variants' values on one comparison's scale.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    /// Candidate minus reference, within (cell, block).
    Paired(Vec<f64>),
    /// Candidate and reference, each by itself.
    Unpaired(Vec<f64>, Vec<f64>),
}

impl Data {
    /// Collects both variants' values in the comparison's cells.
    pub(crate) fn of(
        measured: &[Measured],
        comparison: &Comparison,
        pairing: Pairing,
        (candidate, reference): (&str, &str),
    ) -> Self {
        let a = by_pair(measured, comparison, candidate);
        let b = by_pair(measured, comparison, reference);
        match pairing {
            Pairing::Unpaired => {
                Self::Unpaired(a.into_values().collect(), b.into_values().collect())
            }
            Pairing::Paired => Self::paired(a, b),
        }
    }

    /// Differences wherever both sides have a value.
    pub(crate) fn paired(a: BTreeMap<PairKey, f64>, b: BTreeMap<PairKey, f64>) -> Self {
        let difference = |(key, a): (&PairKey, &f64)| b.get(key).map(|b| a - b);
        Self::Paired(a.iter().filter_map(difference).collect())
    }

    pub(crate) fn n(&self) -> usize {
        match self {
            Self::Paired(differences) => differences.len(),
            Self::Unpaired(a, b) => a.len().min(b.len()),
        }
    }

    pub(crate) fn enough(&self) -> bool {
        self.n() >= FEWEST_FOR_INTERVAL
    }

    /// The smallest p-value that so many values can give.
    pub(crate) fn smallest_p(&self) -> f64 {
        match self {
            Self::Paired(differences) => 2.0 * 0.5_f64.powf(differences.len() as f64),
            // C(2n, n) regroupings of two samples of n; six each give 924 already.
            Self::Unpaired(..) => 2.0 / 4.0_f64.powf(self.n() as f64 - 1.0),
        }
    }

    pub(crate) fn p(&self, seed: u64) -> Option<f64> {
        match self {
            Self::Paired(differences) => paired::sign_flip_test(differences, seed),
            Self::Unpaired(a, b) => unpaired::permutation_test(a, b, seed),
        }
    }

    pub(crate) fn shift(&self, confidence: f64) -> Option<ShiftEstimate> {
        match self {
            Self::Paired(differences) => paired::hodges_lehmann(differences, confidence),
            Self::Unpaired(a, b) => unpaired::hodges_lehmann_shift(a, b, confidence),
        }
    }

    fn equivalence(&self, margin: f64, alpha: f64) -> Option<Equivalence> {
        match self {
            Self::Paired(differences) => equivalence::equivalent(differences, margin, alpha),
            Self::Unpaired(a, b) => equivalence::equivalent_unpaired(a, b, margin, alpha),
        }
    }

    /// From the recorded residuals; at `alpha` shared out among the family, which is cautious.
    fn detectable(&self, alpha: f64, seed: u64) -> Option<f64> {
        if !self.enough() {
            return None;
        }
        match self {
            Self::Paired(differences) => {
                minimum_detectable_effect(differences, differences.len(), alpha, POWER, seed)
            }
            Self::Unpaired(a, b) => {
                let centre = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
                let (of_a, of_b) = (centre(a), centre(b));
                let residuals: Vec<f64> = a
                    .iter()
                    .map(|value| value - of_a)
                    .chain(b.iter().map(|value| value - of_b))
                    .collect();
                let (n_a, n_b) = (a.len(), b.len());
                minimum_detectable_effect_unpaired(&residuals, n_a, n_b, alpha, POWER, seed)
            }
        }
    }

    fn mean(&self) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        match self {
            Self::Paired(differences) => mean(differences),
            Self::Unpaired(a, b) => mean(a) - mean(b),
        }
    }
}

/// Judges every candidate against the reference. `all` are all analysed runs, `clean` those that
/// passed the noise gate; a verdict that differs between the two is "cannot tell".
pub(crate) fn compare(
    all: &[Measured],
    clean: &[Measured],
    comparison: &Comparison,
    analysis: &Analysis,
    candidates: &[&str],
    seed: u64,
) -> Vec<Line> {
    let with = |measured: &[Measured], variant: &&str| {
        let names = (*variant, analysis.reference.as_str());
        Data::of(measured, comparison, analysis.pairing, names)
    };
    let asked = |measured: &[Measured]| {
        let one = |variant: &&str| (with(measured, variant), (*variant).to_owned(), comparison);
        candidates.iter().map(one).collect::<Vec<_>>()
    };
    let gate_found_something = all.len() != clean.len();
    let second = gate_found_something.then(|| asked(clean));
    judge_family(&asked(all), second.as_deref(), analysis, seed)
}

/// One difference that is asked about: its values, what it is called, on which scale and margin.
pub(crate) type Asked<'a> = (Data, String, &'a Comparison);

/// Judges one family of tests together, by Holm. `clean` asks the same of the runs that passed the
/// noise gate.
pub(crate) fn judge_family(
    all: &[Asked],
    clean: Option<&[Asked]>,
    analysis: &Analysis,
    seed: u64,
) -> Vec<Line> {
    let mut lines = judged(all, analysis, seed);
    if let Some(clean) = clean {
        for (line, second) in lines.iter_mut().zip(judged(clean, analysis, seed)) {
            line.verdict = confirmed(line.verdict.take(), second.verdict.as_ref());
            line.gated = Some((second.n, second.verdict));
        }
    }
    lines
}

/// The margin on the comparison's scale.
pub(crate) fn scaled_margin(comparison: &Comparison) -> f64 {
    match comparison.scale {
        Scale::Ratio => comparison.margin.ln_1p(),
        Scale::Difference => comparison.margin,
    }
}

/// Whether a cell takes part in a comparison.
pub(crate) fn takes_part(comparison: &Comparison, cell: &BTreeMap<String, String>) -> bool {
    let allowed = |(factor, levels): (&String, &Vec<String>)| {
        cell.get(factor).is_some_and(|level| levels.contains(level))
    };
    comparison.cells.iter().all(allowed)
}

/// Cell and block.
pub(crate) type PairKey = (String, u32);

fn judged(asked: &[Asked], analysis: &Analysis, seed: u64) -> Vec<Line> {
    let p_of = |(data, ..): &Asked| data.enough().then(|| data.p(seed)).flatten();
    let p_values: Vec<Option<f64>> = asked.iter().map(p_of).collect();
    let tested: Vec<f64> = p_values.iter().flatten().copied().collect();
    let mut adjusted = holm(&tested).unwrap_or_default().into_iter();
    let lines = asked.iter().zip(p_values).map(|((data, name, comparison), p)| {
        let p_adjusted = p.and_then(|_| adjusted.next());
        line(name, data, (p_adjusted, tested.len().max(1)), comparison, analysis, seed)
    });
    lines.collect()
}

fn line(
    variant: &str,
    data: &Data,
    (p_adjusted, family): (Option<f64>, usize),
    comparison: &Comparison,
    analysis: &Analysis,
    seed: u64,
) -> Line {
    let shift = data.shift(1.0 - analysis.alpha);
    let equivalence = data.equivalence(scaled_margin(comparison), analysis.alpha);
    let evidence = p_adjusted.zip(shift).map(|(adjusted_p, shift)| Evidence {
        adjusted_p,
        estimate: shift.estimate,
        mean: data.mean(),
        equivalence,
    });
    let direction = direction(&comparison.metric);
    Line {
        variant: variant.to_owned(),
        n: data.n(),
        shift,
        p_adjusted,
        equivalence,
        detectable: data.detectable(analysis.alpha / family as f64, seed),
        verdict: evidence.map(|evidence| judge(&evidence, analysis.alpha, direction)),
        gated: None,
    }
}

/// Too few clean pairs to judge cannot confirm anything.
fn confirmed(verdict: Option<Verdict>, gated: Option<&Verdict>) -> Option<Verdict> {
    verdict.map(|verdict| verdict.confirmed_by(gated.unwrap_or(&Verdict::CannotTell)))
}

/// A variant's values on the comparison's scale by (cell, block); where a run was repeated, the
/// mean of both.
pub(crate) fn by_pair(
    measured: &[Measured],
    comparison: &Comparison,
    variant: &str,
) -> BTreeMap<PairKey, f64> {
    by_pair_but(measured, comparison, variant, "")
}

/// The same by (cell without one of its factors, block).
pub(crate) fn by_pair_but(
    measured: &[Measured],
    comparison: &Comparison,
    variant: &str,
    factor: &str,
) -> BTreeMap<PairKey, f64> {
    let mut sums: BTreeMap<PairKey, (f64, f64)> = BTreeMap::new();
    let of_variant = measured.iter().filter(|run| run.variant() == variant);
    for one in of_variant.filter(|one| takes_part(comparison, &one.row.run.cell)) {
        let Some(value) = on_scale(one.value(&comparison.metric), comparison.scale) else {
            continue;
        };
        let run = &one.row.run;
        let (sum, count) = sums.entry((cell_but(run, &[factor]), run.block)).or_default();
        *sum += value;
        *count += 1.0;
    }
    sums.into_iter().map(|(key, (sum, count))| (key, sum / count)).collect()
}

fn on_scale(value: Option<f64>, scale: Scale) -> Option<f64> {
    match scale {
        Scale::Difference => value,
        Scale::Ratio => value.filter(|value| *value > 0.0).map(f64::ln),
    }
}
