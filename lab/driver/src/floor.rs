//! The expected answers of families whose floor variant knows them.

use std::{collections::BTreeMap, path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use lab_plan::Experiment;
use lab_protocol::{PROTOCOL, RunOutcome, RunSpec, Status};
use serde_json::Value;

use crate::{
    DriverError, Program,
    execute::{Call, Executed, Starter, execute},
    words::harmless,
};

/// The largest cells take a floor some seconds.
const DEADLINE: Duration = Duration::from_secs(300);
/// What the floor's runs are called.
const RUN: &str = "floor-answer";

/// The floor's program, and what it has answered so far, by the question.
#[derive(Debug)]
pub(crate) struct FloorAnswers {
    program: PathBuf,
    answers: BTreeMap<String, RunOutcome>,
}

impl FloorAnswers {
    pub(crate) fn of(experiment: &Experiment, programs: &[Program]) -> Result<Self, DriverError> {
        let file = &experiment.file;
        let floor = experiment.written.analysis.floor.as_deref();
        let found = programs.iter().find(|program| Some(program.entry.variant.as_str()) == floor);
        let program = found.ok_or_else(|| {
            DriverError::Input(format!(
                "{file}: key `analysis.floor`: must name a variant that takes part: its answers \
                 are the truth of this family"
            ))
        })?;
        Ok(Self { program: program.path.clone(), answers: BTreeMap::new() })
    }

    /// What the floor answers. A floor that cannot answer is the lab's own failure: it leaves
    /// nothing to compare with.
    pub(crate) fn answer(
        &mut self,
        workload: &Value,
        interrupt: &AtomicBool,
    ) -> Result<&RunOutcome, DriverError> {
        let line = spec_line(RUN, workload);
        if !self.answers.contains_key(&line) {
            let answer = self.ask(&line, interrupt)?;
            self.answers.insert(line.clone(), answer);
        }
        Ok(&self.answers[&line])
    }

    fn ask(&self, line: &str, interrupt: &AtomicBool) -> Result<RunOutcome, DriverError> {
        let (program, spec_line) = (&self.program, line);
        let call = Call { program, variables: &[], cpus: &[], spec_line, run: RUN };
        let execution = execute(Starter::Lab, call, DEADLINE, interrupt);
        let reason = match execution.ended {
            Executed::Outcome(outcome) if outcome.status == Status::Ok => return Ok(outcome),
            Executed::Outcome(outcome) => outcome.reason.unwrap_or_default(),
            Executed::Broken(reason) => reason,
            Executed::Interrupted => "it was interrupted".to_owned(),
        };
        Err(DriverError::Lab(format!(
            "the floor variant failed while computing the expected answer: {}",
            harmless(&reason)
        )))
    }
}

/// The spec of a run, as a variant reads it.
pub(crate) fn spec_line(run: &str, workload: &Value) -> String {
    let spec = RunSpec { protocol: PROTOCOL, run: run.to_owned(), workload: workload.clone() };
    serde_json::to_string(&spec).expect("a spec always serialises")
}
