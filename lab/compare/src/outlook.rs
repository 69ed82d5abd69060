//! How much longer an answer is to be expected to take.

use lab_stats::{sequence::Sequence, verdict::control_needs};

use crate::{Comparison, Question};

impl Comparison {
    /// The seconds until the candidate's answer, if the noise goes on as it did and the difference
    /// is what it seems to be; `None` where that cannot be said yet.
    pub(crate) fn seconds_to_go(&self, number: usize) -> Option<f64> {
        let candidate = &self.candidates[number];
        let sequence = &candidate.sequences[0];
        let margin = self.settings.log_margin();
        let shift = sequence.estimate()?;
        let effect = shift.abs();
        let rounds = match self.settings.question {
            Question::Margin => rounds_to_go(sequence, (margin - shift).abs())?,
            Question::Tail => candidate.tail.pairs_to_go()?,
            Question::Direction => verdict_to_go(sequence, effect, margin - effect)?,
            Question::Size => {
                let enough = self.settings.enough(effect);
                let within = match self.settings.precision {
                    Some(_) => enough.min(margin - effect),
                    None => margin - effect,
                };
                verdict_to_go(sequence, effect.min(enough), within)?
            }
        };
        // The rounds of others are part of what one round takes.
        let seconds = |to_go: f64, rounds: usize| to_go * self.elapsed_s / rounds as f64;
        let answer = seconds(rounds, candidate.rounds);
        let control = match &self.control {
            Some(control) => {
                let to_go = rounds_to_go(control, control_needs(sequence, margin))?;
                seconds(to_go, self.control_rounds)
            }
            None => 0.0,
        };
        Some(answer.max(control))
    }
}

/// Until 0 is left out, or all lies within the margin, whichever is sooner.
fn verdict_to_go(sequence: &Sequence, direction: f64, equivalence: f64) -> Option<f64> {
    let ways = [direction, equivalence].map(|half_width| rounds_to_go(sequence, half_width));
    ways.into_iter().flatten().reduce(f64::min)
}

fn rounds_to_go(sequence: &Sequence, half_width: f64) -> Option<f64> {
    let pairs = (half_width > 0.0).then(|| sequence.pairs_until(half_width))??;
    Some(pairs.saturating_sub(sequence.counted()) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    /// Sixty rounds of two seconds; the candidate at `shift`, the control at 0, both noisy.
    fn compared(settings: Settings, shift: f64) -> Comparison {
        let mut comparison = Comparison::new(settings, &["wall"]).unwrap();
        let noise = |at: usize| 0.01 * (((at * 7919) % 101) as f64 / 50.0 - 1.0);
        for round in 0..60 {
            let runs = [0.0, shift + noise(round), 3.0 * noise(round + 50)];
            let runs: Vec<Vec<f64>> = runs.map(|log| vec![log.exp()]).to_vec();
            let commands = comparison.settings().commands();
            comparison.add(&[], &runs[..commands], 2.0 * (round + 1) as f64).unwrap();
        }
        comparison
    }

    /// Without a control, so that it is not what takes longest.
    fn alone(question: Question, margin: f64) -> Settings {
        Settings { question, margin, control: false, budget_s: 1e9, ..Settings::default() }
    }

    /// Two seconds for each pair until the sequence's half-width is expected to be this.
    fn seconds_until(comparison: &Comparison, half_width: f64) -> f64 {
        let sequence = &comparison.candidates[0].sequences[0];
        let pairs = sequence.pairs_until(half_width).unwrap();
        assert!(pairs > sequence.counted() + 10, "{pairs} pairs are no wait");
        2.0 * (pairs - sequence.counted()) as f64
    }

    fn is(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?} {expected}");
    }

    #[test]
    fn a_side_of_the_margin_takes_until_the_interval_leaves_the_margin_out() {
        for shift in [0.009, 0.011] {
            let comparison = compared(alone(Question::Margin, 0.01), shift);
            let found = comparison.candidates[0].sequences[0].estimate().unwrap();
            let distance = (0.01_f64.ln_1p() - found).abs();
            is(comparison.seconds_to_go(0), seconds_until(&comparison, distance));
        }
        is(compared(alone(Question::Margin, 0.01), -0.002).seconds_to_go(0), 0.0);
    }

    #[test]
    fn a_direction_takes_until_0_is_left_out_or_all_lies_within_the_margin() {
        // The margin is nearer than it can be: only 0 can be left out.
        let comparison = compared(alone(Question::Direction, 0.000_1), 0.001);
        let effect = comparison.candidates[0].sequences[0].estimate().unwrap().abs();
        is(comparison.seconds_to_go(0), seconds_until(&comparison, effect));
        // Within the margin it is sooner known to be than on a side of 0.
        let comparison = compared(alone(Question::Direction, 0.001), 0.0);
        let effect = comparison.candidates[0].sequences[0].estimate().unwrap().abs();
        assert!(effect < 0.000_4, "{effect}");
        let expected = seconds_until(&comparison, 0.001_f64.ln_1p() - effect);
        is(comparison.seconds_to_go(0), expected);
    }

    #[test]
    fn a_size_takes_until_a_quarter_of_it_or_the_margin_is_known() {
        let size = |margin, precision| Settings { precision, ..alone(Question::Size, margin) };
        let effect = |it: &Comparison| it.candidates[0].sequences[0].estimate().unwrap().abs();
        let near = compared(size(0.000_5, None), 0.001);
        is(near.seconds_to_go(0), seconds_until(&near, 0.000_5_f64.ln_1p()));
        let far = compared(size(0.000_1, None), 0.002);
        is(far.seconds_to_go(0), seconds_until(&far, effect(&far) / 4.0));
        let precise = compared(size(0.01, Some(0.000_5)), 0.03);
        is(precise.seconds_to_go(0), seconds_until(&precise, 0.000_5_f64.ln_1p()));
    }

    #[test]
    fn a_side_of_the_tail_takes_as_many_rounds_as_its_evidence_needs() {
        let comparison = compared(alone(Question::Tail, 0.01), 0.0);
        let pairs = comparison.candidates[0].tail.pairs_to_go().unwrap();
        assert!(pairs > 10.0, "{pairs}");
        is(comparison.seconds_to_go(0), 2.0 * pairs);
    }

    #[test]
    fn a_control_may_take_longer_than_the_answer() {
        let with = Settings { control: true, ..alone(Question::Direction, 0.01) };
        let comparison = compared(with, 0.03);
        let candidate = &comparison.candidates[0].sequences[0];
        let control = comparison.control.as_ref().unwrap();
        let needs = control_needs(candidate, 0.01_f64.ln_1p());
        let pairs = control.pairs_until(needs).unwrap().saturating_sub(control.counted());
        assert!(candidate.excludes(0.0));
        is(comparison.seconds_to_go(0), 2.0 * pairs as f64);
    }

    #[test]
    fn before_a_pair_counts_nothing_is_foretold() {
        let none = Comparison::new(alone(Question::Direction, 0.01), &["wall"]).unwrap();
        assert_eq!(none.seconds_to_go(0), None);
    }
}
