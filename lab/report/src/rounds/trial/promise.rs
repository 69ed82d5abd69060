//! What the rounds of a comparison or contrast so far promise of others.

use lab_record::Run;
use lab_stats::verdict::control_needs;

use super::{POWER, Trial, Trials};

/// Of three rounds of a question with a control, two are its own.
const QUESTIONS: f64 = 2.0 / 3.0;

/// What rounds take and what an answer needs, as those so far show it.
pub(in crate::rounds) struct Promise {
    /// How long a round takes; 0 where there was none.
    pub(in crate::rounds) round_ns: f64,
    /// The rounds of a sweep after which its size is known.
    pub(in crate::rounds) rounds_needed: Option<f64>,
}

/// Rounds that were run, and the runs that they take.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rounds: usize,
    runs: usize,
    pub(super) spent_ns: u64,
}

impl Tally {
    pub(super) fn add<'r>(&mut self, rows: impl Iterator<Item = &'r &'r Run>) {
        self.rounds += 1;
        for run in rows {
            self.runs += 1;
            self.spent_ns += run.process_ns;
        }
    }

    /// How long a round takes; 0 where there was none.
    fn round_ns(&self) -> f64 {
        self.spent_ns as f64 / self.rounds.max(1) as f64
    }

    /// How long a run takes.
    fn run_ns(&self) -> f64 {
        self.spent_ns as f64 / self.runs.max(1) as f64
    }
}

impl Trial {
    /// All pairs of a sweep that should know its size.
    fn pairs_needed(&self) -> Option<usize> {
        self.sequence.pairs_until(self.enough())
    }

    /// What all pairs of a sweep should be able to detect.
    fn detectable_in(&self, pairs: f64) -> Option<f64> {
        self.sequence.detectable_after(pairs.round() as usize, POWER)
    }
}

impl Trials {
    /// What its rounds so far promise of others.
    pub(in crate::rounds) fn promise(&self) -> Promise {
        let measured = || self.lines.iter().filter(|line| line.pairs > 0);
        let (question, control) = (&self.of_question, &self.of_control);
        let share = self.share_of_question();
        // A round is washed where the one before was of the other kind.
        let washed = share * (1.0 - share) * (question.run_ns() + control.run_ns());
        let round_ns = share * question.round_ns() + (1.0 - share) * control.round_ns() + washed;
        let of_lines = measured().map(|line| line.pairs_needed()).collect::<Option<Vec<_>>>();
        let of_lines = of_lines.and_then(|pairs| pairs.into_iter().max());
        let of_lines = of_lines.map(|pairs| pairs as f64 / self.pairs_a_round());
        let of_control = self.control.as_ref().map(|control| {
            let needs = measured().map(|line| control_needs(&line.sequence, line.margin));
            let least = needs.reduce(f64::min)?;
            let pairs = control.sequence.pairs_until(least)? as f64;
            let a_round = control.pairs as f64 / self.of_control.rounds.max(1) as f64;
            Some(pairs / (a_round * (1.0 - share)))
        });
        let rounds_needed = match of_control {
            None => of_lines,
            Some(of_control) => of_lines.zip(of_control).map(|(a, b)| a.max(b)),
        };
        Promise { round_ns, rounds_needed }
    }

    /// Which part of further rounds are the question's own.
    fn share_of_question(&self) -> f64 {
        if self.control.is_some() { QUESTIONS } else { 1.0 }
    }

    /// The pairs that a further round of either kind should give to a line. Who was answered early
    /// has fewer than rounds there were.
    fn pairs_a_round(&self) -> f64 {
        let most = self.lines.iter().map(|line| line.pairs).max().unwrap_or_default();
        self.share_of_question() * most as f64 / self.of_question.rounds.max(1) as f64
    }

    /// What the best and the worst known of its lines should be able to detect in so many rounds.
    pub(in crate::rounds) fn detectable_in(&self, rounds: f64) -> Option<(f64, f64)> {
        let measured = || self.lines.iter().filter(|line| line.pairs > 0);
        let pairs = rounds * self.pairs_a_round();
        let sizes = measured().map(|line| line.detectable_in(pairs)).collect::<Option<Vec<_>>>()?;
        let least = sizes.iter().copied().reduce(f64::min)?;
        Some((least, sizes.into_iter().fold(least, f64::max)))
    }
}
