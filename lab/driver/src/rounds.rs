//! The declared questions of a sweep: rounds of adjacent runs, until the referee has an answer or
//! the time for the question is spent.

use std::collections::BTreeMap;

use lab_family::{Cell, Referee};
use lab_plan::{Asked, PlannedRun};
use lab_record::{Results, Run, RunFile, Samples};

use crate::{DriverError, Progress, Sweep, package::Done, recording::Recording, sweep::label};

/// Who judges the rounds of a sweep with this `run.json`.
pub type RefereeOf<'a> = &'a dyn Fn(&RunFile) -> Box<dyn Referee>;

/// Fewer tell little: a question takes more than its share of the time for as many.
const ROUNDS_LEAST: u32 = 40;
/// So many shares at most, or one question of long runs would leave nothing to all others.
const SHARES_MOST: u64 = 3;
/// The first pass spends half of the time, so that every question gets some of it; the second one
/// what is left, and the third what still is.
const PASSES: usize = 3;
/// The runs of a round.
type Rows = Vec<(Run, Samples)>;

const NS_PER_S: u64 = 1_000_000_000;

/// What earlier sessions recorded of the rounds, by order.
pub(crate) struct Recorded<'r> {
    results: Option<&'r Results>,
    by_order: BTreeMap<u64, &'r Run>,
}

impl<'r> Recorded<'r> {
    pub(crate) fn of(results: Option<&'r Results>) -> Self {
        let runs = results.into_iter().flat_map(|results| &results.runs);
        Self { results, by_order: runs.map(|run| (run.order, run)).collect() }
    }

    /// The run of this order with its samples.
    pub(crate) fn get(&self, order: u64) -> Result<Option<(Run, Samples)>, DriverError> {
        let (Some(results), Some(run)) = (self.results, self.by_order.get(&order)) else {
            return Ok(None);
        };
        Ok(Some(((*run).clone(), results.samples(run)?)))
    }
}

/// What a question that was asked `rounds` times may spend of a pass's time, before `others` have
/// theirs.
fn share_ns(pass: usize, left_ns: u64, others: u64, rounds: u32) -> u64 {
    let share_ns = left_ns / (others + 1);
    let shares = if pass > 0 && rounds < ROUNDS_LEAST { SHARES_MOST } else { 1 };
    (share_ns * shares).min(left_ns)
}

impl Sweep<'_> {
    /// All questions, in passes. In a pass each has as much time as those after it; after the first
    /// pass up to [`SHARES_MOST`] times that for [`ROUNDS_LEAST`]. What answered questions leave is
    /// for the others. False when interrupted.
    pub(crate) fn rounds(
        &mut self,
        recording: &mut Recording<'_>,
        recorded: &Recorded<'_>,
        referee: &mut dyn Referee,
        progress: &mut dyn Progress,
    ) -> Result<bool, DriverError> {
        let Some(rounds) = self.experiment.written.analysis.rounds else { return Ok(true) };
        let plan = self.plan;
        referee.mapped();
        let mut all_ns = u64::from(rounds.budget_s) * NS_PER_S;
        let mut asked: Vec<_> = plan.asked.iter().map(|asked| (asked, 0)).collect();
        for pass in 0..PASSES {
            let mut left_ns = if pass == 0 { all_ns / 2 } else { all_ns };
            let mut still = Vec::new();
            let questions = asked.len() as u64;
            for ((question, mut next), others) in asked.into_iter().zip((0..questions).rev()) {
                let mut spent_ns = 0;
                let is_open = loop {
                    let planned = self.next_round(question, next, referee, recording)?;
                    if planned.is_empty() || spent_ns >= share_ns(pass, left_ns, others, next) {
                        break !planned.is_empty();
                    }
                    let label = format!("{}, round {}", question.label, next + 1);
                    let done = self.round(&planned, &label, recording, recorded, progress)?;
                    let Some((rows, ns)) = done else { return Ok(false) };
                    referee.take(question.place, rows);
                    spent_ns += ns;
                    next += 1;
                };
                left_ns = left_ns.saturating_sub(spent_ns);
                all_ns = all_ns.saturating_sub(spent_ns);
                if is_open {
                    still.push((question, next));
                }
            }
            asked = still;
        }
        Ok(true)
    }

    /// The runs of a question's next round; none where it is answered or was asked often enough.
    fn next_round(
        &self,
        question: &Asked,
        round: u32,
        referee: &dyn Referee,
        recording: &Recording<'_>,
    ) -> Result<Vec<PlannedRun>, DriverError> {
        if round >= question.rounds.most {
            return Ok(Vec::new());
        }
        let wanted = |variant: &str, cell: &Cell| {
            !recording.unfit.contains(variant) && referee.wants(question.place, variant, cell)
        };
        let planned = question.round(self.experiment, round, wanted);
        planned.map_err(|error| DriverError::Input(error.to_string()))
    }

    /// One round: its rows, recorded now or earlier, and how long they took. `None` when
    /// interrupted.
    fn round(
        &mut self,
        planned: &[PlannedRun],
        question: &str,
        recording: &mut Recording<'_>,
        recorded: &Recorded<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Option<(Rows, u64)>, DriverError> {
        let mut rows = Vec::new();
        let mut spent_ns = 0;
        for planned in planned {
            if let Some(row) = recorded.get(planned.order)? {
                spent_ns += row.0.process_ns;
                rows.push(row);
                continue;
            }
            recording.at(progress, planned.expected_ms, question);
            let before_ns = lab_probe::monotonic_ns();
            if self.is_interrupted() {
                return Ok(None);
            }
            let Some(Done { run, samples }) = self.one(planned, progress)? else {
                return Ok(None);
            };
            rows.push((run.clone(), samples.clone()));
            recording.note(&run, &label(planned), progress);
            recording.write(run, &samples, &mut self.gate)?;
            spent_ns += lab_probe::monotonic_ns() - before_ns;
        }
        Ok(Some((rows, spent_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_of_long_runs_leaves_time_to_the_others() {
        assert_eq!(share_ns(0, 480, 32, 0), 14);
        assert_eq!(share_ns(1, 480, 32, 0), 42);
        assert_eq!(share_ns(1, 480, 32, ROUNDS_LEAST), 14);
        // The last of a pass has what is left, and no more.
        assert_eq!(share_ns(1, 480, 0, 0), 480);
    }
}
