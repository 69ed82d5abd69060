//! The ratio of means, where it tells another story than the typical run: a few slow runs move it.

use super::{metric::Metric, record::Round, text::percent};
use crate::Estimate;

/// Of the primary metric, in the rounds that held the candidate; `None` without a mean above 0.
pub(crate) fn ratio(rounds: &[Round], candidate: usize) -> Option<f64> {
    let both = || rounds.iter().map(|round| [&round.runs[0], &round.runs[candidate + 1]]);
    let held = both().filter_map(|[reference, run]| Some([*reference.first()?, *run.first()?]));
    let [below, above] = held.fold([0.0; 2], |[below, above], [a, b]| [below + a, above + b]);
    (below > 0.0 && above > 0.0).then(|| above / below)
}

/// What is said of a ratio that the typical run's interval does not hold.
pub(crate) fn line(metric: Metric, estimate: &Estimate, ratio: Option<f64>) -> Option<String> {
    let (shift, [low, high]) = (ratio?.ln(), estimate.interval?);
    let label = metric.label();
    (shift < low || high < shift).then(|| {
        format!("mean {label} {:+.2} %, outside this: a few runs carry it", percent(shift))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(reference: &[f64], candidate: &[f64]) -> Round {
        let json = serde_json::json!({
            "elapsed_s": 1.0, "order": [0, 1], "layout": { "environment_bytes": 0 },
            "runs": [reference, candidate], "statuses": [0, 0],
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_ratio_is_of_the_rounds_that_held_both() {
        let rounds = [round(&[10.0], &[11.0]), round(&[50.0], &[]), round(&[10.0], &[31.0])];
        assert_eq!(ratio(&rounds, 0), Some(2.1));
        assert_eq!(ratio(&[round(&[0.0], &[1.0])], 0), None);
        assert_eq!(ratio(&[], 0), None);
    }

    #[test]
    fn a_ratio_is_told_where_the_interval_does_not_hold_it() {
        let estimate = |interval| Estimate { shift: 0.0, interval, pairs: 30 };
        let said = |interval, ratio| line(Metric::Wall, &estimate(interval), Some(ratio));
        let outside = "mean wall time +10.00 %, outside this: a few runs carry it";
        assert_eq!(said(Some([-0.01, 0.01]), 1.1).as_deref(), Some(outside));
        assert!(said(Some([-0.01, 0.01]), 0.9).is_some_and(|text| text.contains("-10.00 %")));
        assert_eq!(said(Some([-0.01, 0.1]), 1.1), None);
        assert_eq!(said(None, 1.1), None);
        assert_eq!(line(Metric::Wall, &estimate(Some([0.0; 2])), None), None);
    }
}
