//! How much longer an answer is to be expected to take.

use lab_stats::{sequence::Sequence, verdict::control_needs};

use crate::{Comparison, Question, comparison::Candidate};

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
            Question::Direction => {
                let direction = rounds_to_go(sequence, effect);
                let equivalence = self.equivalence(candidate, margin - effect);
                direction.into_iter().chain(equivalence).reduce(f64::min)?
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

    fn equivalence(&self, candidate: &Candidate, half_width: f64) -> Option<f64> {
        let typical = rounds_to_go(&candidate.sequences[0], half_width)?;
        Some(typical.max(candidate.tail.rounds_to_go(self.settings.alpha_each())?))
    }
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

    /// Without a control, of fine margins, so that neither it nor the tail is what takes longest.
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
        // Equivalence is sooner than a direction of so little, and wants the tail's pairs.
        let comparison = compared(alone(Question::Direction, 0.01), 0.000_05);
        let tail = comparison.candidates[0].tail.rounds_to_go(0.01).unwrap();
        assert!(tail > 10.0, "{tail}");
        is(comparison.seconds_to_go(0), 2.0 * tail);
        // Of a fine margin the typical run takes longer than the tail.
        let comparison = compared(alone(Question::Direction, 0.001), 0.0);
        let effect = comparison.candidates[0].sequences[0].estimate().unwrap().abs();
        assert!(0.000_1 < effect && effect < 0.000_3, "{effect}");
        let expected = seconds_until(&comparison, 0.001_f64.ln_1p() - effect);
        assert!(expected > 2.0 * tail, "{expected} {tail}");
        is(comparison.seconds_to_go(0), expected);
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
