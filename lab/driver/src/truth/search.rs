//! Engines: the reported lines and the counts are held against the floor's.

use lab_protocol::RunOutcome;

/// Columns that say which lines were found, in their order.
const COLUMNS: [&str; 3] = ["answer_file", "answer_offset_bytes", "answer_hash"];
/// Counts that belong to the answer.
const COUNTERS: [&str; 4] = ["files", "matches", "lines_invalid", "files_unreadable"];

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
            None => format!("{name} has {} rows, the floor's has {}", says.len(), truth.len()),
        });
    }
    Ok(())
}

/// The floor's count, to stand beside a peer's: its question is only the nearest one, so another
/// count is no wrong answer.
pub(crate) fn floor_matches(floor: &RunOutcome) -> Option<i64> {
    floor.counters.get("matches").map(|&matches| matches.cast_signed())
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
