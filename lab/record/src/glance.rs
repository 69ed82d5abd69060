//! A results folder at a glance: what it is about and how far it is, without its samples.

use std::{fs::TryLockError, path::Path};

use serde::Deserialize;

use crate::{
    Folder, RecordError, RunFile, Session, SessionEvent, Status, chain, distinct,
    lines::read_lines,
    store::{RUN_FILE, RUNS, SESSIONS, damaged, no_results},
};

impl RunFile {
    /// Reads `run.json` of a results folder alone.
    ///
    /// # Errors
    /// Where the folder is none, or the file is damaged.
    pub fn read(dir: &Path) -> Result<Self, RecordError> {
        Self::read_chained(&Folder::at(dir)).map(|(run_file, _)| run_file)
    }

    /// Whether the record of a folder is chained.
    ///
    /// # Errors
    /// As [`Self::read`], and where the file was changed after the sweep began.
    pub fn is_chained(dir: &Path) -> Result<bool, RecordError> {
        Self::read_chained(&Folder::at(dir)).map(|(_, begin)| begin.is_some())
    }

    /// The same, and where the chains of the record begin; none in one from before chains.
    ///
    /// # Errors
    /// As [`Self::read`], and where the file was changed after the sweep began.
    pub(crate) fn read_chained(folder: &Folder) -> Result<(Self, Option<String>), RecordError> {
        let path = folder.join(RUN_FILE);
        let text = folder.read(RUN_FILE).map_err(|source| no_results(folder.path(), source))?;
        let run_file = distinct::read(&text).map_err(damaged(&path, 1))?;
        let begin = chain::stored(&text).map_err(damaged(&path, 1))?;
        if let Some(begin) = &begin
            && chain::of_run_file(&text).map_err(damaged(&path, 1))? != *begin
        {
            let what = "its `chain` does not follow from it: it was changed after the sweep began";
            return Err(RecordError::Unlike { path, what: what.to_owned() });
        }
        Ok((run_file, begin))
    }
}

/// Whether a sweep has all its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has.
    Finished,
    /// A lab appends to it at this moment.
    GoingOn,
    /// It was stopped or killed, and can be resumed.
    Stopped,
}

impl State {
    /// The state of a results folder. The lock is looked at by taking a shared one for an instant,
    /// and only where the sessions leave the question open.
    ///
    /// # Errors
    /// Where `sessions.jsonl` cannot be read.
    pub fn of(dir: &Path) -> Result<Self, RecordError> {
        let folder = Folder::at(dir);
        let sessions: Vec<Session> = read_lines(&folder, SESSIONS)?;
        Ok(match sessions.last().map(|session| session.event) {
            Some(SessionEvent::Finished) => Self::Finished,
            Some(SessionEvent::Stopped) => Self::Stopped,
            _ if is_locked(&folder) => Self::GoingOn,
            _ => Self::Stopped,
        })
    }
}

fn is_locked(folder: &Folder) -> bool {
    let looked = folder.file(RUNS).map(|runs| runs.try_lock_shared());
    matches!(looked, Ok(Err(TryLockError::WouldBlock)))
}

/// How far a sweep is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// Rows of the planned runs.
    pub planned: u64,
    /// Rows beyond the plan: of rounds, of repeats and of start-up times.
    pub further: u64,
    /// Of all rows, those of failed runs.
    pub failed: u64,
    /// The variant and the block of the last row.
    pub last: Option<(String, u32)>,
}

/// What is counted of a line of `runs.jsonl`.
#[derive(Deserialize)]
struct Line {
    order: u64,
    attempt: u32,
    block: u32,
    variant: String,
    status: Status,
}

impl Rows {
    /// Counts the rows of a folder that a sweep writes to. A torn last line is not counted.
    ///
    /// # Errors
    /// Where `runs.jsonl` cannot be read.
    pub fn of(dir: &Path, run_file: &RunFile) -> Result<Self, RecordError> {
        let lines: Vec<Line> = read_lines(&Folder::at(dir), RUNS)?;
        let is_planned = |line: &&Line| line.attempt == 0 && line.order < run_file.runs_planned;
        let planned = lines.iter().filter(is_planned).count() as u64;
        let failed = lines.iter().filter(|line| line.status == Status::Failed).count() as u64;
        let further = lines.len() as u64 - planned;
        let last = lines.into_iter().next_back().map(|line| (line.variant, line.block));
        Ok(Self { planned, further, failed, last })
    }
}
