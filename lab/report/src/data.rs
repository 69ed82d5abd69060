//! The values behind one difference, and what the tests say of them.

use std::collections::BTreeMap;

use lab_record::{Comparison, Pairing, Scale};
use lab_stats::{
    describe::median,
    equivalence::{self, Equivalence},
    interval::{FEWEST_FOR_INTERVAL, Interval},
    paired::{self, ShiftEstimate},
    power::{minimum_detectable_effect, minimum_detectable_effect_unpaired},
    studentised::Studentised,
    tail::{self, Tail},
};

use crate::compare::{POWER, PairKey, by_pair};
use crate::measure::Measured;

/// Two variants' values on one comparison's scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    scale: Scale,
    values: Values,
}

#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// Candidate minus reference, within (cell, block), and both by themselves less the median of
    /// the reference in that cell.
    Paired(Vec<f64>, Vec<(f64, f64)>),
    /// Candidate and reference, each by itself.
    Unpaired(Vec<f64>, Vec<f64>),
}

impl Data {
    /// Collects both variants' values in the comparison's cells.
    pub fn of(
        measured: &[Measured],
        comparison: &Comparison,
        pairing: Pairing,
        (candidate, reference): (&str, &str),
    ) -> Self {
        let a = by_pair(measured, comparison, candidate);
        let b = by_pair(measured, comparison, reference);
        let scale = comparison.scale;
        match pairing {
            Pairing::Unpaired => {
                let values = Values::Unpaired(a.into_values().collect(), b.into_values().collect());
                Self { scale, values }
            }
            Pairing::Paired => Self::paired(&a, &b, scale),
        }
    }

    /// Differences wherever both sides have a value.
    pub fn paired(a: &BTreeMap<PairKey, f64>, b: &BTreeMap<PairKey, f64>, scale: Scale) -> Self {
        let mut of_cells: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for ((cell, _), value) in b {
            of_cells.entry(cell).or_default().push(*value);
        }
        let (mut differences, mut both) = (Vec::new(), Vec::new());
        for (key, a) in a {
            let Some(b) = b.get(key) else { continue };
            let centre = of_cells.get(key.0.as_str()).and_then(|values| median(values));
            let centre = centre.unwrap_or(*b);
            differences.push(a - b);
            both.push((a - centre, b - centre));
        }
        Self { scale, values: Values::Paired(differences, both) }
    }

    /// Pairs of logarithms, each less the same centre.
    pub fn of_logarithms(both: Vec<(f64, f64)>) -> Self {
        let differences = both.iter().map(|(a, b)| a - b).collect();
        Self { scale: Scale::Ratio, values: Values::Paired(differences, both) }
    }

    /// The pairs, the candidate moved so that the typical difference is 0; `None` of samples apart
    /// and of too few.
    pub fn centred_pairs(&self) -> Option<Vec<(f64, f64)>> {
        let Values::Paired(differences, both) = &self.values else { return None };
        let shift = paired::hodges_lehmann(differences, 0.95).filter(|_| self.enough())?;
        Some(both.iter().map(|(a, b)| (a - shift.estimate, *b)).collect())
    }

    /// Pairs, or the smaller of two independent samples.
    pub fn n(&self) -> usize {
        match &self.values {
            Values::Paired(differences, _) => differences.len(),
            Values::Unpaired(a, b) => a.len().min(b.len()),
        }
    }

    /// Whether there are enough pairs for an interval.
    pub fn enough(&self) -> bool {
        self.n() >= FEWEST_FOR_INTERVAL
    }

    /// The smallest p-value that so many values can give.
    pub fn smallest_p(&self) -> f64 {
        match &self.values {
            Values::Paired(differences, _) => 2.0 * 0.5_f64.powf(differences.len() as f64),
            // C(2n, n) regroupings of two samples of n; six each give 924 already.
            Values::Unpaired(..) => 2.0 / 4.0_f64.powf(self.n() as f64 - 1.0),
        }
    }

    /// By sign flips within pairs, or by a studentised permutation test.
    pub fn p(&self, seed: u64) -> Option<f64> {
        match &self.values {
            Values::Paired(differences, _) => paired::sign_flip_test(differences, seed),
            Values::Unpaired(a, b) => Some(Studentised::new(a, b, LEVEL, seed)?.p_value(0.0)),
        }
    }

    /// By Hodges and Lehmann; of samples apart the difference of the means with the shifts that
    /// the test does not reject.
    pub fn shift(&self, confidence: f64, seed: u64) -> Option<ShiftEstimate> {
        match &self.values {
            Values::Paired(differences, _) => paired::hodges_lehmann(differences, confidence),
            Values::Unpaired(a, b) => {
                let test = Studentised::new(a, b, 1.0 - confidence, seed)?;
                let interval = test.interval(1.0 - confidence);
                Some(ShiftEstimate { estimate: test.estimate(), interval })
            }
        }
    }

    /// Whether the middle lies within ±`margin` of the scale.
    pub fn equivalence(&self, margin: f64, alpha: f64, seed: u64) -> Option<Equivalence> {
        match &self.values {
            Values::Paired(differences, _) => equivalence::equivalent(differences, margin, alpha),
            Values::Unpaired(a, b) => {
                Studentised::new(a, b, alpha, seed)?.equivalence(margin, alpha)
            }
        }
    }

    /// The tail, against a margin as declared.
    pub fn tail(&self, margin: f64, alpha: f64) -> Option<Tail> {
        match (&self.values, self.scale) {
            (Values::Paired(_, both), Scale::Ratio) => {
                let multiples: Vec<_> = both.iter().map(|(a, b)| (a.exp(), b.exp())).collect();
                tail::of_pairs(&multiples, margin, alpha)
            }
            (Values::Paired(differences, _), Scale::Difference) => {
                tail::of_differences(differences, margin, alpha)
            }
            (Values::Unpaired(a, b), Scale::Ratio) => {
                let centre = median(b)?;
                let multiples = |values: &[f64]| {
                    values.iter().map(|value| (value - centre).exp()).collect::<Vec<_>>()
                };
                tail::of_samples(&multiples(a), &multiples(b), margin, alpha)
            }
            // The studentised test is about the means already.
            (Values::Unpaired(a, b), Scale::Difference) => {
                let interval = Studentised::new(a, b, 2.0 * alpha, 0)?.interval(2.0 * alpha)?;
                let Interval { low, high, .. } = interval;
                let holds = -margin < low && high < margin;
                Some(Tail { slow_share: None, mean: interval, holds })
            }
        }
    }

    /// From the recorded residuals; at `alpha` shared out among the family, which is cautious.
    pub(crate) fn detectable(&self, alpha: f64, seed: u64) -> Option<f64> {
        if !self.enough() {
            return None;
        }
        match &self.values {
            Values::Paired(differences, _) => {
                minimum_detectable_effect(differences, differences.len(), alpha, POWER, seed)
            }
            Values::Unpaired(a, b) => {
                let residuals = [a, b].map(|values| {
                    let centre = mean(values);
                    values.iter().map(|value| value - centre).collect::<Vec<_>>()
                });
                let (n_a, n_b) = (a.len(), b.len());
                let residuals = residuals.concat();
                minimum_detectable_effect_unpaired(&residuals, n_a, n_b, alpha, POWER, seed)
            }
        }
    }

    /// The typical difference by the mean.
    pub fn mean(&self) -> f64 {
        match &self.values {
            Values::Paired(differences, _) => mean(differences),
            Values::Unpaired(a, b) => mean(a) - mean(b),
        }
    }
}

/// The level for which the number of regroupings is chosen.
const LEVEL: f64 = 0.01;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
