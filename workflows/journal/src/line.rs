//! A record as a line: readable by people, and by anything that can count words.
//!
//! `BATCH INDEX OF KIND NUMBER… CHECKSUM`: the record is the INDEX-th of OF that were written and
//! synced together, as batch BATCH, from 1. The checksum is the XXH64 of what stands before it, its
//! blank included, in 16 hexadecimal digits.

use std::fmt::Write;

use workflows_kit::{StepRow, Submission, Transition};
use xxhash_rust::xxh64::xxh64;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// `open WORKLOAD`: the first; whose tasks these are.
    Open { workload: u64 },
    /// `task TASK INPUT SUBMITTED_NS`: taken over.
    Task(Submission),
    /// `step TASK STEP PART VALUE CLAIMS CREATED_NS ENQUEUED_NS CLAIMED_NS STARTED_NS FINISHED_NS`.
    Step(StepRow),
}

impl From<&Transition> for Record {
    fn from(transition: &Transition) -> Self {
        match *transition {
            Transition::Accepted(submission) => Self::Task(submission),
            Transition::Recorded(row) => Self::Step(row),
        }
    }
}

/// Which of the records that were synced together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// From 1.
    pub(crate) batch: u64,
    /// From 0.
    pub(crate) index: u64,
    /// How many.
    pub(crate) of: u64,
}

/// Adds the line, with its end.
pub(crate) fn write(lines: &mut String, place: Place, record: &Record) {
    let from = lines.len();
    add(lines, place, record).expect("a String takes whatever is written");
    let sum = xxh64(&lines.as_bytes()[from..], 0);
    writeln!(lines, "{sum:016x}").expect("a String takes whatever is written");
}

fn add(lines: &mut String, place: Place, record: &Record) -> std::fmt::Result {
    let Place { batch, index, of } = place;
    write!(lines, "{batch} {index} {of} ")?;
    match record {
        Record::Open { workload } => write!(lines, "open {workload} "),
        Record::Task(Submission { task, input, submitted_ns }) => {
            write!(lines, "task {task} {input} {submitted_ns} ")
        }
        Record::Step(row) => {
            let StepRow { task, step, part, value, claims, .. } = row;
            let StepRow { created_ns, enqueued_ns, claimed_ns, started_ns, finished_ns, .. } = row;
            write!(
                lines,
                "step {task} {step} {part} {value} {claims} {created_ns} {enqueued_ns} "
            )?;
            write!(lines, "{claimed_ns} {started_ns} {finished_ns} ")
        }
    }
}

/// Reads a line without its end; `None` when it is not as it was written.
pub(crate) fn read(line: &[u8]) -> Option<(Place, Record)> {
    let text = str::from_utf8(line).ok()?;
    let (body, sum) = text.split_at_checked(text.len().checked_sub(16)?)?;
    if u64::from_str_radix(sum, 16).ok()? != xxh64(body.as_bytes(), 0) {
        return None;
    }
    let mut words = body.split_ascii_whitespace();
    let place = Place { batch: next(&mut words)?, index: next(&mut words)?, of: next(&mut words)? };
    let record = match words.next()? {
        "open" => Record::Open { workload: next(&mut words)? },
        "task" => Record::Task(Submission {
            task: next(&mut words)?,
            input: next(&mut words)?,
            submitted_ns: next(&mut words)?,
        }),
        "step" => Record::Step(step(&mut words)?),
        _ => return None,
    };
    words.next().is_none().then_some((place, record))
}

/// When its sync returned is not in the line that was synced: after a recovery a step counts as
/// recorded when it was finished.
fn step<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<StepRow> {
    let row = StepRow {
        task: next(words)?,
        step: next(words)?,
        part: next(words)?,
        value: next(words)?,
        claims: next(words)?,
        created_ns: next(words)?,
        enqueued_ns: next(words)?,
        claimed_ns: next(words)?,
        started_ns: next(words)?,
        finished_ns: next(words)?,
        recorded_ns: 0,
    };
    Some(StepRow { recorded_ns: row.finished_ns, ..row })
}

fn next<'a, T: std::str::FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}
