//! The file of --spend: an error level shared by all attempts at one goal, so that the twentieth
//! try is not a lucky one.
//!
//! One line about the level, then one for each attempt. An attempt's share is written before its
//! first run and stays spent whatever becomes of it, for it may have been looked at. The lines are
//! chained, and the first tells how many there are and the last one's chain, so that attempts that
//! were removed are missed.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, SystemTime},
};

use lab_console::{Failure, streams};
use lab_record::{Bounded, Lock};
use lab_stats::multiple::spent_on;
use serde::{Deserialize, Serialize};

use super::{chain, commands::Command};
use crate::Settings;

/// Of the first line.
const SCHEMA: &str = "lab-spend-2";
/// The same before lines were chained.
const UNCHAINED: &str = "lab-spend-1";
/// Attempts at the lock. A killed comparison's command may hold it for an instant, and a file may
/// be replaced between its opening and its locking.
const TRIES: usize = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    schema: String,
    /// Of all attempts together.
    alpha: f64,
    /// How many are from before lines were chained.
    #[serde(default, skip_serializing_if = "is_none")]
    unchained: u64,
    /// How many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempts: Option<u64>,
    /// Of this line behind the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chain: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Head {
    fn new(alpha: f64) -> Self {
        Self { schema: SCHEMA.to_owned(), alpha, unchained: 0, attempts: None, chain: None }
    }
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chain: Option<String>,
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
        let path = &fs::canonicalize(path).map_err(|error| Failure::file(path, error))?;
        let mut text = String::new();
        Bounded::new(&mut file)
            .read_to_string(&mut text)
            .map_err(|error| Failure::file(path, error))?;
        let (head, attempts) = parse(&text).map_err(|sentence| Failure::file(path, sentence))?;
        if head.unchained > 0 {
            let (path, unchained) = (path.display(), head.unchained);
            streams::tell(format_args!(
                "note: {path}: its first {unchained} attempts are from before lines were chained, \
                 so whether some were removed is not known"
            ));
        }
        let mut spending = Self { path: path.to_owned(), file, head, attempts, ended: false };
        let attempt = spending.attempts.len() as u64 + 1;
        let alpha = spent_on(attempt, spending.head.alpha);
        spending.attempts.push(Attempt {
            attempt,
            time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            commands: commands.iter().map(|command| command.text.clone()).collect(),
            alpha: alpha.expect("the level was read"),
            outcome: None,
            chain: None,
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
            Failure::file(&self.path, error)
        })?;
        Ok(())
    }

    fn lines(&self) -> io::Result<String> {
        let (mut text, mut last) = (String::new(), String::new());
        for attempt in &self.attempts {
            let content = serde_json::to_string(&Attempt { chain: None, ..attempt.clone() })?;
            last = chain::link(&last, &content);
            text += &(chain::with_key(&content, &last) + "\n");
        }
        let attempts = Some(self.attempts.len() as u64);
        let head = serde_json::to_string(&Head { attempts, chain: None, ..self.head.clone() })?;
        Ok(chain::with_key(&head, &chain::link(&last, &head)) + "\n" + &text)
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

/// The file, and whether it was made now.
fn open_or_make(path: &Path) -> io::Result<(File, bool)> {
    let mut how = OpenOptions::new();
    how.read(true).append(true);
    if let Ok(made) = how.clone().create_new(true).open(path) {
        return Ok((made, true));
    }
    // A link may end where there is no file yet.
    let gone = fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Ok((how.create(true).open(path)?, gone))
}

/// The file that has the name when it is locked; the one that was opened may have been replaced.
fn locked(path: &Path) -> Result<File, Failure> {
    let failed = |error: io::Error| Failure::file(path, error);
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        return Err(Failure::file(path, "is no regular file; name another"));
    }
    let (mut is_new, mut is_empty) = (false, false);
    for _ in 0..TRIES {
        let (file, made) = open_or_make(path).map_err(failed)?;
        is_new |= made;
        match Lock::take(&file).map_err(failed)? {
            Lock::Held => {
                let here = file.metadata().map_err(failed)?;
                is_empty = here.len() == 0;
                if fs::metadata(path).is_ok_and(|now| now.ino() == here.ino()) {
                    if is_new || !is_empty {
                        return Ok(file);
                    }
                    // Who has just made it may be about to lock it.
                    drop(file);
                    thread::sleep(BETWEEN_TRIES);
                }
            }
            Lock::InUse => thread::sleep(BETWEEN_TRIES),
            Lock::Unknown(error) => return Err(failed(error)),
        }
    }
    Err(Failure::file(
        path,
        match is_empty {
            true => {
                "is empty, and was not when it was written; restore it, or remove it to begin anew"
            }
            false => "is in use by another comparison; wait for its end",
        },
    ))
}

fn parse(text: &str) -> Result<(Head, Vec<Attempt>), String> {
    let mut lines = text.lines().enumerate();
    let Some((_, first)) = lines.next() else {
        return Ok((Head::new(Settings::default().alpha), Vec::new()));
    };
    let head: Head = serde_json::from_str(first)
        .map_err(|error| format!("line 1 does not give the error level: {error}"))?;
    if ![SCHEMA, UNCHAINED].contains(&head.schema.as_str()) {
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
    if head.schema == UNCHAINED {
        return Ok((Head { unchained: attempts.len() as u64, ..Head::new(head.alpha) }, attempts));
    }
    check_chain(&head, text)?;
    Ok((head, attempts))
}

/// Whether all lines are there as they were written.
fn check_chain(head: &Head, text: &str) -> Result<(), String> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut last = String::new();
    for (place, line) in rest.lines().enumerate() {
        let linked = chain::split(line).filter(|(content, found)| {
            last = chain::link(&last, content);
            last == *found
        });
        if linked.is_none() {
            return Err(format!("line {} is not what was written there{RESTORE}", place + 2));
        }
    }
    let count = rest.lines().count() as u64;
    if let Some(said) = head.attempts.filter(|said| *said != count) {
        return Err(format!("holds {count} attempts, and its first line says {said}{RESTORE}"));
    }
    let whole =
        chain::split(first).filter(|(content, found)| chain::link(&last, content) == *found);
    whole.map(drop).ok_or_else(|| format!("line 1 is not what was written there{RESTORE}"))
}

const RESTORE: &str = "; restore the file, or begin a new one, which spends anew";
