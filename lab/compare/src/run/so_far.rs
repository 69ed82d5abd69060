//! What a few rounds have shown, before there can be an interval: the values as they are.

use lab_stats::describe::median;

use super::{metric::Metric, ratio::Ratio, record::Round, table::range};
use crate::log_ratio;

/// The runs of the reference and of a candidate in the rounds that held both.
pub(super) struct SoFar {
    pairs: Vec<[f64; 2]>,
}

impl SoFar {
    /// Of the primary metric; `None` before the first round.
    pub(super) fn of(rounds: &[Round], candidate: usize) -> Option<Self> {
        let both =
            |round: &Round| Some([*round.runs[0].first()?, *round.runs[candidate + 1].first()?]);
        let pairs: Vec<[f64; 2]> = rounds.iter().filter_map(both).collect();
        (!pairs.is_empty()).then_some(Self { pairs })
    }

    /// Of the values of the reference and of the candidate, in the rounds' order.
    pub(super) fn of_values([reference, candidate]: &[Vec<f64>; 2]) -> Option<Self> {
        let pairs: Vec<[f64; 2]> = reference.iter().zip(candidate).map(|(a, b)| [*a, *b]).collect();
        (!pairs.is_empty()).then_some(Self { pairs })
    }

    /// The median of the pairs' differences of logarithms.
    pub(super) fn shift(&self) -> f64 {
        let differences: Vec<f64> =
            self.pairs.iter().map(|[reference, value]| log_ratio(*reference, *value)).collect();
        median(&differences).unwrap_or_default()
    }

    /// "new takes 170 … 174 ms and old 13.5 … 13.7 s, 80 × faster so far".
    pub(super) fn said(&self, metric: Metric, [reference, name]: [&str; 2]) -> String {
        let [old, new] = [0, 1].map(|side| range(metric, &self.side(side)));
        let takes = if metric.is_time() { "takes" } else { "has" };
        format!("{name} {takes} {new} and {reference} {old}, {} so far", self.ratio(metric))
    }

    /// "80 × faster", "+3.10 %".
    pub(super) fn ratio(&self, metric: Metric) -> String {
        let shift = self.shift();
        match Ratio::of(metric, shift, None) {
            Some(ratio) => ratio.word,
            None => format!("{:+.2} %", 100.0 * shift.exp_m1()),
        }
    }

    /// Whether every run of one is below every run of the other, in more than one round.
    pub(super) fn is_apart(&self) -> bool {
        let ends = |side: usize| {
            let values = self.side(side);
            [f64::min, f64::max].map(|end| values.iter().copied().reduce(end).unwrap_or(f64::NAN))
        };
        let ([low, high], [other_low, other_high]) = (ends(0), ends(1));
        self.pairs.len() > 1 && (high < other_low || other_high < low)
    }

    fn side(&self, side: usize) -> Vec<f64> {
        self.pairs.iter().map(|pair| pair[side]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn so_far(pairs: &[[f64; 2]]) -> SoFar {
        SoFar { pairs: pairs.to_vec() }
    }

    #[test]
    fn few_runs_are_told_as_they_are() {
        let found = so_far(&[[13.5e6, 170e3], [13.7e6, 174e3]]);
        assert_eq!(
            found.said(Metric::Wall, ["old", "new"]),
            "new takes 170 … 174 ms and old 13.5 … 13.7 s, 79 × faster so far"
        );
        assert!(found.is_apart());
        let near = so_far(&[[100e3, 103e3], [103e3, 101e3], [100e3, 104e3]]);
        assert!(!near.is_apart());
        assert_eq!(
            near.said(Metric::Wall, ["old", "new"]),
            "new takes 101 … 104 ms and old 100 … 103 ms, +3.00 % so far"
        );
        let one = so_far(&[[2e6, 1e6]]);
        assert!(!one.is_apart());
        let said = one.said(Metric::Wall, ["a", "b"]);
        assert_eq!(said, "b takes 1.00 s and a 2.00 s, 2 × faster so far");
    }
}
