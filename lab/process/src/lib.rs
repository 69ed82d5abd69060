//! One execution of any command: its times, what the kernel counted, and its output's hash.
//!
//! The command runs in a process group of its own, so that a terminal's Ctrl-C reaches the lab
//! alone, and what is left of the group when the command has ended is ended too. What left the
//! group is ended where the caller holds [`Orphans`]. Address-space randomisation stays as the
//! kernel does it, unless [`fix_addresses`] was called.

mod addresses;
mod batch;
mod counters;
mod cpus;
mod kernel;
mod orphans;
mod printed;
mod running;

use std::{
    ffi::OsString,
    fs::File,
    io::{self, PipeReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{OnceLock, atomic::AtomicBool},
    time::Duration,
};

use nix::sys::resource::{UsageWho, getrusage};

use counters::Open;
use printed::{Kept, Last};
use running::{Running, follow};

pub use addresses::{Addresses, addresses, fix_addresses};
pub use counters::{Counters, no_counters};
pub use cpus::cpus_by_core;
pub use kernel::{Transfers, Usage, transfers};
pub use orphans::Orphans;

/// The variable that makes the environment as large as [`Run::environment_bytes`] asks.
pub const PADDING: &str = "LAB_PADDING";
/// What [`mark_all`] was given.
static MARK: OnceLock<(String, String)> = OnceLock::new();

/// Puts this variable into the environment of every command from now on; the first one holds.
pub fn mark_all(name: &str, value: &str) {
    MARK.get_or_init(|| (name.to_owned(), value.to_owned()));
}

/// Where a command's output goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// Nowhere. Some programs notice and do less.
    #[default]
    Null,
    /// Into this file, from its start.
    File(PathBuf),
    /// Through a pipe into a hash. A command that prints more than the pipe holds waits for it.
    Hash,
    /// Where the lab's own output goes.
    Inherit,
    /// Into a file in memory, hashed after the command's end. It is ended where it prints more than
    /// this many bytes, or soon afterwards.
    Memory(u64),
    /// Into this file, from its start, hashed after the command's end.
    Hashed(PathBuf),
}

/// What to run, and how.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// What it reads; nothing without one.
    pub input: Option<PathBuf>,
    /// Where its output goes.
    pub output: Output,
    /// Where its complaints go; nowhere without one.
    pub errors: Option<PathBuf>,
    /// Whether the last of its complaints is kept in [`Finished::errors`] where no file takes them.
    pub keeps_errors: bool,
    /// Where it runs; where the lab does without one.
    pub directory: Option<PathBuf>,
    /// After this long it is ended.
    pub timeout: Option<Duration>,
    /// Bytes added to its environment, which move its stack.
    pub environment_bytes: usize,
    /// What it finds as `$PWD`: another name of the folder in which it runs. Without one it finds
    /// what the lab found.
    pub working_folder: Option<PathBuf>,
    /// The processors on which it may run; those of the lab where there is none.
    pub cpus: Vec<usize>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, and not ours.
    Signalled(i32),
    /// By us, at its timeout.
    TimedOut,
    /// By us, as the user asked.
    Interrupted,
    /// By itself or by us, with more output than [`Output::Memory`] takes.
    PrintedTooMuch,
}

/// A finished execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// From before its start to its end, by CLOCK_MONOTONIC.
    pub wall: Duration,
    /// What the kernel counted of it and of its children that it waited for.
    pub usage: Usage,
    /// What they read and wrote, where the kernel tells.
    pub transfers: Option<Transfers>,
    /// What the processor counted of it and of all its children, where there are counters.
    pub counters: Option<Counters>,
    /// The SHA-256 of its output and its length, where that was asked for.
    pub output: Option<(String, u64)>,
    /// Whether one of several executions printed other bytes than the last.
    pub outputs_differ: bool,
    /// The last of its complaints, where that was asked for.
    pub errors: Vec<u8>,
}

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no such program, or it may not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// Its name.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A file that it should read or write.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The system refused something while it ran.
    #[error("cannot follow the command: {0}")]
    Follow(#[from] io::Error),
}

/// The largest resident set of this process: the least that [`Usage::peak_rss_bytes`] can show.
pub fn own_peak_rss_bytes() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("RUSAGE_SELF is always known");
    u64::try_from(usage.max_rss()).unwrap_or(0) * 1024
}

impl Run {
    /// Runs the command to its end. A signal to this process that sets `interrupted` ends it.
    pub fn execute(&self, interrupted: &AtomicBool) -> Result<Finished, RunError> {
        let mut running = Running::start(self, Open::new())?;
        let followed = follow(&mut [&mut running], interrupted);
        let finished = running.finish();
        followed?;
        finished
    }

    /// Runs two commands at once. An interruption ends both; nothing else of one ends the other.
    /// They have no counters: the second would inherit the first one's.
    pub fn execute_both(
        both: [&Self; 2],
        interrupted: &AtomicBool,
    ) -> Result<[Finished; 2], RunError> {
        let mut first = Running::start(both[0], Open::none())?;
        let mut second = match Running::start(both[1], Open::none()) {
            Ok(second) => second,
            Err(error) => {
                first.finish()?;
                return Err(error);
            }
        };
        let followed = follow(&mut [&mut first, &mut second], interrupted);
        let (first, second) = (first.finish(), second.finish());
        followed?;
        Ok([first?, second?])
    }

    fn command(&self) -> Result<(Command, Taken), RunError> {
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).process_group(0);
        if let Some((name, value)) = MARK.get() {
            command.env(name, value);
        }
        command.env(PADDING, "x".repeat(self.environment_bytes));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        if let Some(name) = &self.working_folder {
            command.env("PWD", name);
        }
        command.stdin(self.input.as_ref().map_or(Ok(Stdio::null()), |path| {
            File::open(path).map(Stdio::from).map_err(opening(path))
        })?);
        let mut taken = Taken::default();
        command.stderr(self.errors_to(&mut taken)?);
        command.stdout(self.output_to(&mut taken)?);
        Ok((command, taken))
    }

    fn errors_to(&self, taken: &mut Taken) -> Result<Stdio, RunError> {
        match &self.errors {
            Some(path) => create(path),
            None if self.keeps_errors => {
                let (read, write) = io::pipe()?;
                taken.errors = Some(Last::of(read));
                Ok(write.into())
            }
            None => Ok(Stdio::null()),
        }
    }

    fn output_to(&self, taken: &mut Taken) -> Result<Stdio, RunError> {
        let kept = match &self.output {
            Output::Null => return Ok(Stdio::null()),
            Output::Inherit => return Ok(Stdio::inherit()),
            Output::File(path) => return create(path),
            Output::Hash => {
                let (read, write) = io::pipe()?;
                taken.reader = Some(read);
                return Ok(write.into());
            }
            Output::Memory(bytes_max) => Kept::in_memory(*bytes_max)?,
            Output::Hashed(path) => {
                // Read after it was written, which what is no file need not allow.
                let mut how = File::options();
                how.write(true).create(true).truncate(true);
                let file = how.clone().read(true).open(path).or_else(|_| how.open(path));
                Kept::of(file.map_err(opening(path))?)
            }
        };
        let to = kept.for_command()?;
        taken.kept = Some(kept);
        Ok(to.into())
    }
}

/// What takes a command's output, and hashes it.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) reader: Option<PipeReader>,
    pub(crate) kept: Option<Kept>,
    pub(crate) errors: Option<Last>,
}

fn create(path: impl AsRef<Path>) -> Result<Stdio, RunError> {
    let path = path.as_ref();
    File::create(path).map(Stdio::from).map_err(opening(path))
}

fn opening(path: &Path) -> impl FnOnce(io::Error) -> RunError {
    move |source| RunError::Open { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
