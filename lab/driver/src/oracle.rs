//! The truth of families without a server: the floor variant's answer to the same data.

use std::{collections::BTreeMap, path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use lab_plan::Experiment;
use lab_protocol::{
    RunOutcome, Status,
    ledgers::{Data, Workload},
};

use crate::{
    DriverError, Program,
    execute::{Executed, execute},
    stage::{Answer, spec_line},
    truth::Columns,
};

/// The answer to a hundred million transactions takes less.
const DEADLINE: Duration = Duration::from_secs(120);
/// A variant with this tag measures the harness: it does no work and has no answer.
const HARNESS_TAG: &str = "harness";
/// The column that identifies the accounts.
const HASH: &str = "answer_hash";
/// Columns of a run that has an answer, a row per repetition.
const COLUMNS: [&str; 8] = [
    "elapsed_ns",
    "teardown_ns",
    HASH,
    "answer_total",
    "answer_held",
    "answer_deposited",
    "answer_withdrawn",
    "answer_charged_back",
];

/// The floor's program, and what it has answered so far.
#[derive(Debug)]
pub(crate) struct Oracle {
    program: PathBuf,
    hashes: BTreeMap<Data, i64>,
}

impl Oracle {
    pub(crate) fn of(
        file: &str,
        experiment: &Experiment,
        programs: &[Program],
    ) -> Result<Self, DriverError> {
        let floor = experiment.analysis.floor.as_deref();
        let found = programs.iter().find(|program| Some(program.entry.variant.as_str()) == floor);
        let program = found.ok_or_else(|| {
            DriverError::Input(format!(
                "{file}: key `analysis.floor`: must name a variant that takes part: its answers \
                 are the truth of this family"
            ))
        })?;
        Ok(Self { program: program.path.clone(), hashes: BTreeMap::new() })
    }

    /// The outer error is the lab's own: a floor that cannot answer leaves nothing to compare with.
    pub(crate) fn truth(
        &mut self,
        workload: &Workload,
        asked: &Workload,
        answer: &Answer<'_>,
    ) -> Result<Result<Columns, String>, DriverError> {
        if answer.outcome.status != Status::Ok {
            return Ok(Ok(Columns::new()));
        }
        let checked = if answer.program.entry.tags.iter().any(|tag| tag == HARNESS_TAG) {
            times(workload, answer)
        } else {
            let truth = self.hash(asked)?;
            times(workload, answer).and_then(|()| against(truth, answer.outcome))
        };
        Ok(checked.map(|()| Columns::new()))
    }

    fn hash(&mut self, asked: &Workload) -> Result<i64, DriverError> {
        if let Some(&hash) = self.hashes.get(&asked.data) {
            return Ok(hash);
        }
        let line = spec_line("oracle", asked);
        // Not to be interrupted: the run it is asked for is over and wants its record.
        let never = AtomicBool::new(false);
        let trouble =
            |what: String| DriverError::Lab(format!("the floor, asked for truth: {what}"));
        let outcome = match execute(&self.program, &line, "oracle", DEADLINE, &never).ended {
            Executed::Outcome(outcome) if outcome.status == Status::Ok => outcome,
            Executed::Outcome(outcome) => {
                return Err(trouble(outcome.reason.unwrap_or_default()));
            }
            Executed::Broken(reason) => return Err(trouble(reason)),
            Executed::Interrupted => unreachable!("its flag is never up"),
        };
        let hash = outcome.samples.get(HASH).and_then(|column| column.first());
        let hash = *hash.ok_or_else(|| trouble(format!("left no column {HASH}")))?;
        self.hashes.insert(asked.data.clone(), hash);
        Ok(hash)
    }
}

/// The columns fit the workload, and the run did not measure more time than it lived.
fn times(workload: &Workload, answer: &Answer<'_>) -> Result<(), String> {
    let rows = workload.repetitions as usize;
    for column in &COLUMNS[..2] {
        let values = column_of(answer.outcome, column, rows)?;
        if values.iter().any(|&ns| ns < 0) {
            return Err(format!("column {column} holds a negative time"));
        }
    }
    let measured: i64 = answer.outcome.samples["elapsed_ns"].iter().sum();
    if measured.unsigned_abs() > answer.process_ns {
        return Err(format!(
            "says that its repetitions took {measured} ns, but it lived only {} ns",
            answer.process_ns
        ));
    }
    Ok(())
}

fn against(truth: i64, outcome: &RunOutcome) -> Result<(), String> {
    let rows = outcome.samples["elapsed_ns"].len();
    let mut of = BTreeMap::new();
    for column in &COLUMNS[2..] {
        of.insert(*column, column_of(outcome, column, rows)?);
    }
    for row in 0..rows {
        let value = |column: &str| i128::from(of[column][row]);
        let kept =
            value("answer_deposited") - value("answer_withdrawn") - value("answer_charged_back");
        if value("answer_total") != kept {
            return Err(format!(
                "repetition {row}: the total is {}, deposits less withdrawals and chargebacks \
                 are {kept}",
                value("answer_total")
            ));
        }
        if of[HASH][row] != truth {
            let says = of[HASH][row];
            return Err(format!("repetition {row}: {HASH} is {says}, the floor's is {truth}"));
        }
    }
    Ok(())
}

fn column_of<'a>(outcome: &'a RunOutcome, column: &str, rows: usize) -> Result<&'a [i64], String> {
    let values = outcome.samples.get(column).map_or(&[][..], Vec::as_slice);
    if values.len() == rows {
        return Ok(values);
    }
    Err(format!("column {column} has {} rows, the run has {rows} repetitions", values.len()))
}
