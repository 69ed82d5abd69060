//! Engines: the reported lines and the counts are held against the floor's.

use std::collections::BTreeMap;

use lab_family::{Checked, Columns};
use lab_protocol::RunOutcome;
use lab_protocol::engines::names;
use lab_record::Verification;

/// Columns that say which lines were found, in their order.
const COLUMNS: [&str; 3] = [names::ANSWER_FILE, names::ANSWER_OFFSET_BYTES, names::ANSWER_HASH];
/// Counts that belong to the answer. Invalid lines do not: a prefilter never sees most of them.
const COUNTERS: [&str; 3] = [names::FILES, "matches", names::FILES_UNREADABLE];

/// The answer of an engine.
///
/// # Errors
/// A sentence that names the counter, or the place in the answer, and both values.
pub(crate) fn answer(outcome: &RunOutcome, floor: &RunOutcome) -> Result<(), String> {
    counts(outcome, floor)?;
    for name in COLUMNS {
        let (says, truth) = (outcome.samples.get(name), floor.samples.get(name));
        if says == truth {
            continue;
        }
        let (says, truth) = (says.map_or(&[][..], Vec::as_slice), truth.map_or(&[][..], |t| t));
        let place = says.iter().zip(truth).position(|(says, truth)| says != truth);
        return Err(match place {
            Some(row) => {
                format!("{name} of result {row} is {}, the floor's is {}", says[row], truth[row])
            }
            None => {
                let (says, truth) = (says.len(), truth.len());
                format!("{name} has {says} rows, the floor's has {truth}")
            }
        });
    }
    Ok(())
}

/// A peer's count beside the floor's, in the column `floor_matches`. Its question is only the
/// nearest one, so another count is no wrong answer; and where it is the same, nobody has looked at
/// the lines.
pub(crate) fn beside(outcome: &RunOutcome, floor: &RunOutcome) -> Checked {
    let matches = |outcome: &RunOutcome| outcome.counters.get(names::MATCHES).copied();
    let column = matches(floor).map(u64::cast_signed).into_iter().collect();
    Checked {
        counters: BTreeMap::new(),
        columns: Columns::from([("floor_matches".to_owned(), column)]),
        verification: match matches(outcome) == matches(floor) {
            true => Verification::Checked,
            false => Verification::Unchecked,
        },
    }
}

fn counts(outcome: &RunOutcome, floor: &RunOutcome) -> Result<(), String> {
    for name in COUNTERS {
        let (says, truth) = (outcome.counters.get(name), floor.counters.get(name));
        if says != truth {
            let shown = |count: Option<&u64>| count.map_or("missing".to_owned(), u64::to_string);
            let (says, truth) = (shown(says), shown(truth));
            return Err(format!("counter {name} is {says}, the floor's is {truth}"));
        }
    }
    Ok(())
}
