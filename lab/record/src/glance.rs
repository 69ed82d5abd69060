//! A results folder at a glance: what it is about and how far it is, without its samples.

use std::{fs::TryLockError, path::Path};

use serde::Deserialize;

use crate::{
    Folder, RecordError, RunFile, Session, SessionEvent, Status,
    store::{RUN_FILE, RUNS, SESSIONS, damaged, no_results, read_lines},
};

impl RunFile {
    /// Reads `run.json` of a results folder alone.
    ///
    /// # Errors
    /// Where the folder is none, or the file is damaged.
    pub fn read(dir: &Path) -> Result<Self, RecordError> {
        Self::of(&Folder::at(dir))
    }

    pub(crate) fn of(folder: &Folder) -> Result<Self, RecordError> {
        let text = folder.read(RUN_FILE).map_err(|source| no_results(folder.path(), source))?;
        serde_json::from_slice(&text).map_err(damaged(&folder.join(RUN_FILE), 1))
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
