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
        let control = match &self.control {
            Some(control) => rounds_to_go(control, control_needs(sequence, margin))?,
            None => 0.0,
        };
        Some(rounds.max(control) * self.elapsed_s / self.rounds as f64)
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
