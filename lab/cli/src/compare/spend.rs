//! The file of --spend: an error level shared by all attempts at one goal, so that the twentieth
//! try is not a lucky one.
//!
//! One line about the level, then one for each attempt. An attempt's share is written before its
//! first run and stays spent whatever becomes of it, for it may have been looked at.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, SystemTime},
};

use lab_compare::Settings;
use lab_record::Bounded;
use lab_stats::multiple::spent_on;
use serde::{Deserialize, Serialize};

use super::commands::Command;
use crate::Failure;

/// Of the first line.
const SCHEMA: &str = "lab-spend-1";
/// Attempts at the lock. A killed comparison's command may hold it for an instant, and a file may
/// be replaced between its opening and its locking.
pub(crate) const TRIES: usize = 20;
pub(crate) const BETWEEN_TRIES: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    schema: String,
    /// Of all attempts together.
    alpha: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attempt {
    attempt: u64,
    time: String,
    commands: Vec<String>,
    /// What the comparison may err with.
    alpha: f64,
    /// One for each command but the first; `null` until the end.
    outcome: Option<Vec<String>>,
}

/// The file, locked until this is dropped.
pub(crate) struct Spending {
    path: PathBuf,
    file: File,
    head: Head,
    attempts: Vec<Attempt>,
    ended: bool,
}

impl Spending {
    /// Takes the next attempt's share.
    pub(crate) fn open(path: &Path, commands: &[Command]) -> Result<Self, Failure> {
        let mut file = locked(path)?;
        // The file itself is replaced, and not a link to it, which others may follow too.
        let path = &fs::canonicalize(path).map_err(|error| failure(path, error))?;
        let mut text = String::new();
        Bounded::new(&mut file).read_to_string(&mut text).map_err(|error| failure(path, error))?;
        let (head, attempts) = parse(&text).map_err(|sentence| failure(path, sentence))?;
        let mut spending = Self { path: path.to_owned(), file, head, attempts, ended: false };
        let attempt = spending.attempts.len() as u64 + 1;
        let alpha = spent_on(attempt, spending.head.alpha);
        spending.attempts.push(Attempt {
            attempt,
            time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            commands: commands.iter().map(|command| command.text.clone()).collect(),
            alpha: alpha.expect("the level was read"),
            outcome: None,
        });
        spending.write()?;
        Ok(spending)
    }

    /// The attempt's number and what it may err with.
    pub(crate) fn share(&self) -> (u64, f64) {
        let last = self.attempts.last().expect("one was added");
        (last.attempt, last.alpha)
    }

    /// Writes how the attempt ended. Without an outcome nothing was measured, and the share is
    /// given back.
    pub(crate) fn end(mut self, outcome: Option<Vec<String>>) -> Result<(), Failure> {
        self.ended = true;
        if outcome.is_none() {
            self.attempts.pop();
        } else if let Some(last) = self.attempts.last_mut() {
            last.outcome = outcome;
        }
        self.write()
    }

    /// Replaces the file in one step. The new one is locked before it has the name, so that nobody
    /// comes in between.
    fn write(&mut self) -> Result<(), Failure> {
        let beside = format!("{}.{}", self.path.display(), process::id());
        let written = self.lines().and_then(|text| {
            let mut file = File::create(&beside)?;
            file.lock()?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &self.path)?;
            Ok(file)
        });
        self.file = written.map_err(|error| {
            let _ = fs::remove_file(&beside);
            failure(&self.path, error)
        })?;
        Ok(())
    }

    fn lines(&self) -> io::Result<String> {
        let mut text = serde_json::to_string(&self.head)? + "\n";
        for attempt in &self.attempts {
            text += &(serde_json::to_string(attempt)? + "\n");
        }
        Ok(text)
    }
}

impl Drop for Spending {
    /// A comparison that never got to its first run gives its share back.
    fn drop(&mut self) {
        if !self.ended && !thread::panicking() {
            self.attempts.pop();
            let _ = self.write();
        }
    }
}

/// "0.012 %": two digits that mean something.
pub(crate) fn percent(alpha: f64) -> String {
    let percent = 100.0 * alpha;
    let decimals = (1.0 - percent.log10().floor()).max(0.0) as usize;
    format!("{percent:.decimals$} %")
}

/// The file that has the name when it is locked; the one that was opened may have been replaced.
fn locked(path: &Path) -> Result<File, Failure> {
    let failed = |error: io::Error| failure(path, error);
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        return Err(failure(path, "is no regular file; name another"));
    }
    for _ in 0..TRIES {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                let here = file.metadata().map_err(failed)?.ino();
                if fs::metadata(path).is_ok_and(|now| now.ino() == here) {
                    return Ok(file);
                }
            }
            Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_TRIES),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Err(failure(path, "is in use by another comparison; wait for its end"))
}

fn parse(text: &str) -> Result<(Head, Vec<Attempt>), String> {
    let mut lines = text.lines().enumerate();
    let Some((_, first)) = lines.next() else {
        let head = Head { schema: SCHEMA.to_owned(), alpha: Settings::default().alpha };
        return Ok((head, Vec::new()));
    };
    let head: Head = serde_json::from_str(first)
        .map_err(|error| format!("line 1 does not give the error level: {error}"))?;
    if head.schema != SCHEMA {
        return Err(format!("has the schema {}, not {SCHEMA}", head.schema));
    }
    if spent_on(1, head.alpha).is_none() {
        return Err(format!("alpha in line 1 is {}, and should lie between 0 and 1", head.alpha));
    }
    let mut attempts = Vec::new();
    for (place, line) in lines {
        let attempt: Attempt = serde_json::from_str(line)
            .map_err(|error| format!("line {} is no attempt: {error}", place + 1))?;
        if attempt.attempt != place as u64 {
            return Err(format!("line {} should be attempt {place}; lines were lost", place + 1));
        }
        attempts.push(attempt);
    }
    Ok((head, attempts))
}

fn failure(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure { code: 4, sentence: format!("{}: {error}", path.display()) }
}
