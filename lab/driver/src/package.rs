//! From what a variant said and what the server knows to a row with samples.

use lab_family::{Account, Checked, Family};
use lab_protocol::RunOutcome;
use lab_record::{Run, Samples, Status, Verification};

/// A run, ready to be recorded.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) run: Run,
    pub(crate) samples: Samples,
}

/// Puts outcome and truth into the row: a run is `ok` only where both say so, and where its numbers
/// can be true.
pub(crate) fn package(
    family: &dyn Family,
    run: Run,
    outcome: RunOutcome,
    checked: Result<Checked, String>,
) -> Done {
    let mut done = joined(run, outcome, checked);
    if done.run.status == Status::Ok
        && let Err(why) = family.laws(&Account { run: &done.run, samples: &done.samples })
    {
        done.run.status = Status::Failed;
        done.run.verification = Verification::Unchecked;
        done.run.reason = Some(format!("impossible numbers: {why}"));
    }
    done
}

fn joined(mut run: Run, outcome: RunOutcome, checked: Result<Checked, String>) -> Done {
    let mut columns = outcome.samples;
    match (outcome.status, checked) {
        (lab_protocol::Status::Ok, Ok(checked)) => {
            run.verification = checked.verification;
            run.counters.extend(checked.counters);
            columns.extend(checked.columns);
        }
        (lab_protocol::Status::Ok, Err(reason)) => {
            run.status = Status::Failed;
            run.reason = Some(format!("wrong answer: {reason}"));
        }
        (lab_protocol::Status::Failed, _) => {
            run.status = Status::Failed;
            run.reason = Some(outcome.reason.unwrap_or_else(|| "no reason given".to_owned()));
        }
        (lab_protocol::Status::Unsupported, _) => {
            run.status = Status::Unsupported;
            run.reason = outcome.reason;
        }
    }
    Done { run, samples: Samples::from_raw(columns) }
}

pub(crate) fn failed(mut run: Run, reason: String) -> Done {
    run.status = Status::Failed;
    run.reason = Some(reason);
    Done { run, samples: Samples::default() }
}

/// A run of a program that this machine does not have.
pub(crate) fn absent(mut run: Run, why: String) -> Done {
    run.status = Status::Unsupported;
    run.reason = Some(why);
    Done { run, samples: Samples::default() }
}

/// The variant of a check that failed; it is not timed.
pub(crate) fn unfit_variant(run: &Run) -> Option<String> {
    (run.warmup && run.status != Status::Ok).then(|| run.variant.clone())
}
