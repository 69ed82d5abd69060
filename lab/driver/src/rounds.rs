//! The declared questions of a sweep: rounds of adjacent runs, until the referee has an answer or
//! the time for the question is spent.

use std::collections::BTreeMap;

use lab_family::{Cell, Referee};
use lab_plan::{Asked, PlannedRun, Round};
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
/// A run with its samples.
type Row = (Run, Samples);
/// Those of a round that count.
type Rows = Vec<Row>;

const NS_PER_S: u64 = 1_000_000_000;

/// What earlier sessions recorded of the rounds, by order.
pub(crate) struct Recorded<'r> {
    results: Option<&'r Results>,
    by_order: BTreeMap<u64, Vec<&'r Run>>,
}

impl<'r> Recorded<'r> {
    pub(crate) fn of(results: Option<&'r Results>) -> Self {
        let mut by_order: BTreeMap<u64, Vec<&Run>> = BTreeMap::new();
        for run in results.into_iter().flat_map(|results| &results.runs) {
            by_order.entry(run.order).or_default().push(run);
        }
        Self { results, by_order }
    }

    fn all(&self, order: u64) -> &[&'r Run] {
        self.by_order.get(&order).map_or(&[], Vec::as_slice)
    }

    /// The run of this order with its samples.
    pub(crate) fn get(&self, order: u64) -> Result<Option<Row>, DriverError> {
        let (Some(results), Some(run)) = (self.results, self.all(order).last()) else {
            return Ok(None);
        };
        Ok(Some(((*run).clone(), results.samples(run)?)))
    }

    /// How often a run of this order was recorded: a wash once in each session that it began.
    fn times(&self, order: u64) -> u32 {
        self.all(order).len() as u32
    }

    /// How long the runs of this order took.
    fn spent_ns(&self, order: u64) -> u64 {
        self.all(order).iter().map(|run| run.process_ns).sum()
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
                    let Some(planned) = planned else { break false };
                    if spent_ns >= share_ns(pass, left_ns, others, next) {
                        break true;
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

    /// A question's next round; none where it is answered or was asked often enough.
    fn next_round(
        &self,
        question: &Asked,
        round: u32,
        referee: &dyn Referee,
        recording: &Recording<'_>,
    ) -> Result<Option<Round>, DriverError> {
        if round >= question.rounds.most {
            return Ok(None);
        }
        let wanted = |variant: &str, cell: &Cell| {
            !recording.unfit.contains(variant) && referee.wants(question.place, variant, cell)
        };
        let planned = question.round(self.experiment, round, wanted);
        planned.map_err(|error| DriverError::Input(error.to_string()))
    }

    /// One round: the rows that count, recorded now or earlier, and how long all of it took. `None`
    /// when interrupted. Its first run must not find what a round of another question or kind left,
    /// or the blocks, or whatever ran before this session: so the wash goes before it.
    fn round(
        &mut self,
        planned: &Round,
        question: &str,
        recording: &mut Recording<'_>,
        recorded: &Recorded<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Option<(Rows, u64)>, DriverError> {
        let kind = (planned.place, planned.is_control);
        let mut rows = Vec::new();
        let mut spent_ns = recorded.spent_ns(planned.wash.order);
        for run in &planned.runs {
            if let Some(row) = recorded.get(run.order)? {
                spent_ns += row.0.process_ns;
                rows.push(row);
                continue;
            }
            let is_washed = recording.last_round.replace(kind) != Some(kind);
            let wash = is_washed.then_some(&planned.wash);
            for (next, counts) in wash.map(|wash| (wash, false)).into_iter().chain([(run, true)]) {
                let attempt = recorded.times(next.order);
                let done = self.recorded(next, attempt, question, recording, progress)?;
                let Some((row, ns)) = done else { return Ok(None) };
                spent_ns += ns;
                if counts {
                    rows.push(row);
                }
            }
        }
        Ok(Some((rows, spent_ns)))
    }

    /// One run of a round, recorded, and how long it took. `None` when interrupted.
    fn recorded(
        &mut self,
        planned: &PlannedRun,
        attempt: u32,
        question: &str,
        recording: &mut Recording<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Option<(Row, u64)>, DriverError> {
        recording.at(progress, planned.expected_ms, question);
        let before_ns = lab_process::monotonic_ns();
        if self.is_interrupted() {
            return Ok(None);
        }
        let Some(Done { run, samples }) = self.one(planned, progress)? else { return Ok(None) };
        let row = (Run { attempt, ..run }, samples);
        recording.note(&row.0, &label(planned), progress);
        recording.write(row.0.clone(), &row.1, &mut self.gate)?;
        Ok(Some((row, lab_process::monotonic_ns() - before_ns)))
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
