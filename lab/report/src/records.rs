//! Whether stored records can be true, before anything is computed from them.

use std::collections::BTreeSet;

use lab_family::Account;
use lab_record::Status;

use crate::frame::{Frame, Row};
use crate::{FamilyReport, frame};

/// Records that no report is made of.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unbelievable {
    /// Its numbers contradict each other or the driver's clock.
    #[error("run {run} cannot be true: {why}; was the record changed?")]
    Impossible {
        /// Names the line of `runs.jsonl`.
        run: String,
        /// The numbers.
        why: String,
    },
    /// One run, two lines.
    #[error("run {run} is recorded twice; did two drivers write to one folder?")]
    Twice {
        /// Names the line of `runs.jsonl`.
        run: String,
    },
}

/// Holds every run that was done against the laws of its family, and looks for doubles. Runs of an
/// unknown family are left to [`crate::report`], which refuses them.
///
/// # Errors
/// The first record, in the order of the plan, that cannot be true.
pub fn believable(frame: &Frame, families: &[&dyn FamilyReport]) -> Result<(), Unbelievable> {
    let mut seen = BTreeSet::new();
    for Row { run, samples } in frame.in_plan_order() {
        if !seen.insert((run.order, run.attempt)) {
            return Err(Unbelievable::Twice { run: frame::name(run) });
        }
        let family = families.iter().find(|family| family.name() == run.family);
        let Some(family) = family.filter(|_| run.status == Status::Ok) else { continue };
        let why = family.laws(&Account { run, samples });
        why.map_err(|why| Unbelievable::Impossible { run: frame::name(run), why })?;
    }
    Ok(())
}
