//! Whatever starts programs does it here: one execution of any command with its times, what the
//! kernel counted and its output or its hash ([`Run`]), programs beside those ([`Beside`]), and
//! what sees to it that nothing of them stays ([`Orphans`], [`Guard`], [`Scratch`]).
//!
//! The command runs in a process group of its own, so that a terminal's Ctrl-C reaches the lab
//! alone, and what is left of the group when the command has ended is ended too. What left the
//! group, or may stay in it ([`Run::leaves`]), is ended where the caller holds [`Orphans`].
//! Address-space randomisation stays as the kernel does it, unless [`fix_addresses`] was called.

mod addresses;
mod ask;
mod batch;
mod beside;
mod confine;
mod counters;
mod cpus;
mod guard;
mod hindrance;
mod kernel;
mod orphans;
mod printed;
mod running;
mod scratch;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io, iter,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::atomic::AtomicBool,
    time::Duration,
};

use nix::{
    sys::resource::{UsageWho, getrusage},
    time::{ClockId, clock_gettime},
};
use sha2::{Digest, Sha256};

use counters::Open;
use printed::{Into, Kept, Piped, Remembered, in_memory};
use running::{Running, follow};

pub use addresses::{Addresses, addresses, fix_addresses};
pub use ask::{Answer, Limits, Unfinished};
pub use beside::Beside;
pub use confine::{Hold, found};
pub use counters::{Counters, no_counters};
pub use cpus::cpus_by_core;
pub use guard::{Guard, GuardApart, keep_guard, leave_guard};
pub use hindrance::hindrance;
pub use kernel::{Transfers, Usage, transfers};
pub use orphans::{Left, Orphans, children};
pub use printed::Bound;
pub use scratch::Scratch;

/// The variable that makes the environment as large as [`Run::environment_bytes`] asks.
pub const PADDING: &str = "LAB_PADDING";

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
    /// Into [`Finished::printed`], and its complaints into [`Finished::errors`] where no file takes
    /// them. It is ended where either is of more bytes than this, and where it closes its output
    /// and does not end.
    Whole(u64),
}

/// What to run, and how.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// What its environment has beside the lab's.
    pub variables: Vec<(String, String)>,
    /// What it reads; nothing without one.
    pub input: Option<PathBuf>,
    /// What it reads in place of a file.
    pub input_line: Option<String>,
    /// Where its output goes.
    pub output: Output,
    /// Where its complaints go; nowhere without one.
    pub errors: Option<PathBuf>,
    /// Whether the last of its complaints is kept in [`Finished::errors`] where no file takes them.
    pub keeps_errors: bool,
    /// The same without waking the lab: where they take more bytes than this, the first are lost.
    pub remembers_errors: Option<u64>,
    /// Whether its complaints go where the lab's own go, where no file takes them.
    pub shows_errors: bool,
    /// A file that it writes by its name. It is ended soon after that holds more than it may.
    pub bound: Option<Bound>,
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
    /// Whether the rest of its group stays when it ends by itself, as a server does that it started
    /// in the background. [`Orphans`] end that.
    pub leaves: bool,
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
    /// By itself or by us, with more output than [`Output::Memory`], [`Output::Whole`] or
    /// [`Run::bound`] takes.
    PrintedTooMuch,
    /// By itself or by us, with more complaints than [`Output::Whole`] takes.
    ComplainedTooMuch,
    /// By us, when it had closed its output and did not end, as [`Output::Whole`] asks.
    Hid,
}

impl Ended {
    /// As the standard library has it; `None` where we ended it.
    pub fn status(self) -> Option<ExitStatus> {
        match self {
            Self::Exited(status) => Some(ExitStatus::from_raw(status << 8)),
            Self::Signalled(signal) => Some(ExitStatus::from_raw(signal)),
            _ => None,
        }
    }
}

/// A finished execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// Before its start, by CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// From then to its end, by the same clock.
    pub wall: Duration,
    /// What the kernel counted of it and of its children that it waited for.
    pub usage: Usage,
    /// What they read and wrote, where the kernel tells.
    pub transfers: Option<Transfers>,
    /// What the processor counted of it and of all its children, where there are counters.
    pub counters: Option<Counters>,
    /// The SHA-256 of its output and its length, where that was asked for.
    pub output: Option<(String, u64)>,
    /// Its output, where that was asked for.
    pub printed: Vec<u8>,
    /// Whether one of several executions printed other bytes than the last.
    pub outputs_differ: bool,
    /// Its complaints, or the last of them, where that was asked for.
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

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// The largest resident set of this process: the least that [`Usage::peak_rss_bytes`] can show.
pub fn own_peak_rss_bytes() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("RUSAGE_SELF is always known");
    u64::try_from(usage.max_rss()).unwrap_or(0) * 1024
}

impl Usage {
    /// CPU time in and outside the kernel, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        u64::try_from((self.user + self.system).as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Run {
    /// A program with its arguments.
    pub fn of<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        let argv = iter::once(program.as_ref().to_owned()).chain(arguments).collect();
        Self { argv, ..Self::default() }
    }

    /// Runs the command to its end. A signal to this process that sets `interrupted` ends it.
    pub fn execute(&self, interrupted: &AtomicBool) -> Result<Finished, RunError> {
        self.execute_with(Open::new(), interrupted)
    }

    fn execute_with(&self, counters: Open, interrupted: &AtomicBool) -> Result<Finished, RunError> {
        let mut running = Running::start(self, counters)?;
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
        guard::mark(&mut command).envs(self.variables.iter().cloned());
        command.env(PADDING, "x".repeat(self.environment_bytes));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        if let Some(name) = &self.working_folder {
            command.env("PWD", name);
        }
        command.stdin(self.input_from()?);
        let mut taken = Taken::default();
        command.stderr(self.errors_to(&mut taken)?);
        command.stdout(self.output_to(&mut taken)?);
        Ok((command, taken))
    }

    fn input_from(&self) -> Result<Stdio, RunError> {
        match (&self.input_line, &self.input) {
            (Some(line), _) => Ok(in_memory(format!("{line}\n").as_bytes())?.into()),
            (None, Some(path)) => File::open(path).map(Stdio::from).map_err(opening(path)),
            (None, None) => Ok(Stdio::null()),
        }
    }

    fn errors_to(&self, taken: &mut Taken) -> Result<Stdio, RunError> {
        let into = match (&self.errors, &self.output) {
            (Some(path), _) => return create(path),
            (None, Output::Whole(bytes_max)) => Into::Whole(Vec::new(), *bytes_max),
            (None, _) if self.shows_errors => return Ok(Stdio::inherit()),
            (None, _) if self.keeps_errors => Into::Last(Vec::new()),
            (None, _) if let Some(bytes_max) = self.remembers_errors => {
                let remembered = Remembered::new(bytes_max)?;
                let to = remembered.for_command()?;
                taken.remembered = Some(remembered);
                return Ok(to.into());
            }
            (None, _) => return Ok(Stdio::null()),
        };
        piped(into, &mut taken.errors)
    }

    fn output_to(&self, taken: &mut Taken) -> Result<Stdio, RunError> {
        let kept = match &self.output {
            Output::Null => return Ok(Stdio::null()),
            Output::Inherit => return Ok(Stdio::inherit()),
            Output::File(path) => return create(path),
            Output::Hash => return piped(Into::Hash(Sha256::new(), 0), &mut taken.printed),
            Output::Whole(bytes_max) => {
                return piped(Into::Whole(Vec::new(), *bytes_max), &mut taken.printed);
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

/// What takes a command's output.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) printed: Option<Piped>,
    pub(crate) kept: Option<Kept>,
    pub(crate) errors: Option<Piped>,
    pub(crate) remembered: Option<Remembered>,
}

/// The end of a pipe for a command, of which the other end is taken here.
fn piped(into: Into, taken: &mut Option<Piped>) -> Result<Stdio, RunError> {
    let (read, write) = io::pipe()?;
    *taken = Some(Piped::new(read, into));
    Ok(write.into())
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
