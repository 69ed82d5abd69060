//! One execution of any command: its times, what the kernel counted, and its output's hash.
//!
//! The command runs in a process group of its own, so that a terminal's Ctrl-C reaches the lab
//! alone, and what is left of the group when the command has ended is ended too. Address-space
//! randomisation stays as the kernel does it.

mod kernel;

use std::{
    ffi::OsString,
    fs::File,
    io::{self, PipeReader, Read},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        resource::{UsageWho, getrusage},
        signal::{Signal, killpg},
    },
    unistd::Pid,
};
use sha2::{Digest, Sha256};

pub use kernel::Usage;

/// The variable that makes the environment as large as [`Run::environment_bytes`] asks.
pub const PADDING: &str = "LAB_PADDING";
/// A loop over a pipe reads this much at once: what a pipe holds.
const PIPE_BYTES: usize = 64 << 10;

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
    /// Where it runs; where the lab does without one.
    pub directory: Option<PathBuf>,
    /// After this long it is ended.
    pub timeout: Option<Duration>,
    /// Bytes added to its environment, which move its stack.
    pub environment_bytes: usize,
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
    /// The SHA-256 of its output and its length, where that was asked for.
    pub output: Option<(String, u64)>,
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
        let (mut command, reader) = self.command()?;
        let start = Instant::now();
        let mut child = command.spawn().map_err(|source| RunError::Start {
            program: self.argv[0].to_string_lossy().into_owned(),
            source,
        })?;
        // The command holds the pipe's other end, and would keep it open.
        drop(command);
        let deadline = self.timeout.map(|timeout| start + timeout);
        let mut following = Following::new(&child, reader).or_else(|error| {
            child.kill().and_then(|()| child.wait())?;
            Err(error)
        })?;
        let ended_by_us = following.follow(deadline, interrupted);
        let wall = start.elapsed();
        // Before it is waited for: until then no other process can have its number.
        let ended_group = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        let (status, usage) = kernel::wait(child.id())?;
        if !matches!(ended_group, Ok(()) | Err(Errno::ESRCH | Errno::EPERM)) {
            return Err(RunError::Follow(io::Error::other("cannot end the command's group")));
        }
        let ended = ended_by_us?.unwrap_or(status);
        Ok(Finished { ended, wall, usage, output: following.output()? })
    }

    fn command(&self) -> Result<(Command, Option<PipeReader>), RunError> {
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).process_group(0);
        command.env(PADDING, "x".repeat(self.environment_bytes));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.stdin(self.input.as_ref().map_or(Ok(Stdio::null()), |path| {
            File::open(path).map(Stdio::from).map_err(opening(path))
        })?);
        command.stderr(self.errors.as_ref().map_or(Ok(Stdio::null()), create)?);
        let mut reader = None;
        command.stdout(match &self.output {
            Output::Null => Stdio::null(),
            Output::Inherit => Stdio::inherit(),
            Output::File(path) => create(path)?,
            Output::Hash => {
                let (read, write) = io::pipe()?;
                reader = Some(read);
                write.into()
            }
        });
        Ok((command, reader))
    }
}

fn create(path: impl AsRef<Path>) -> Result<Stdio, RunError> {
    let path = path.as_ref();
    File::create(path).map(Stdio::from).map_err(opening(path))
}

fn opening(path: &Path) -> impl FnOnce(io::Error) -> RunError {
    move |source| RunError::Open { path: path.to_owned(), source }
}

/// A started command until its end.
struct Following {
    process: OwnedFd,
    reader: Option<PipeReader>,
    hash: Sha256,
    bytes: u64,
}

impl Following {
    fn new(child: &Child, reader: Option<PipeReader>) -> io::Result<Self> {
        let process = kernel::descriptor(child.id())?;
        Ok(Self { process, reader, hash: Sha256::new(), bytes: 0 })
    }

    /// Returns when the command has ended (`None`) or has to be ended. A poll and no thread that
    /// looks again and again: nothing of the lab wakes up beside the command.
    fn follow(
        &mut self,
        deadline: Option<Instant>,
        interrupted: &AtomicBool,
    ) -> io::Result<Option<Ended>> {
        let mut open = self.reader.is_some();
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(Some(Ended::Interrupted));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Some(Ended::TimedOut));
            }
            let pipe = self.reader.as_ref().filter(|_| open).map(AsFd::as_fd);
            let (ended, readable) = ready(self.process.as_fd(), pipe, left)?;
            if ended {
                return Ok(None);
            }
            if readable {
                open = self.read()?;
            }
        }
    }

    /// Reads what the pipe holds; `false` at its end.
    fn read(&mut self) -> io::Result<bool> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        let mut buffer = [0; PIPE_BYTES];
        let count = reader.read(&mut buffer)?;
        self.hash.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count > 0)
    }

    /// Takes what was left in the pipe when the command ended, and not what another process, to
    /// which it gave the pipe, writes later.
    fn output(mut self) -> io::Result<Option<(String, u64)>> {
        let ended = self.bytes;
        while self.bytes < ended + PIPE_BYTES as u64 {
            let Some(pipe) = &self.reader else { break };
            let (_, readable) =
                ready(self.process.as_fd(), Some(pipe.as_fd()), Some(Duration::ZERO))?;
            if !readable || !self.read()? {
                break;
            }
        }
        let Self { reader, hash, bytes, .. } = self;
        let hex = |byte: &u8| format!("{byte:02x}");
        Ok(reader.map(|_| (hash.finalize().iter().map(hex).collect(), bytes)))
    }
}

/// Waits for the process's end or for output, a signal or the time; both are false after these.
fn ready(
    process: BorrowedFd<'_>,
    pipe: Option<BorrowedFd<'_>>,
    left: Option<Duration>,
) -> io::Result<(bool, bool)> {
    let mut watched = vec![PollFd::new(process, PollFlags::POLLIN)];
    watched.extend(pipe.map(|pipe| PollFd::new(pipe, PollFlags::POLLIN)));
    // Up to a millisecond late, and never early.
    let milliseconds = |left: Duration| i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
    let timeout = left.map_or(-1, milliseconds);
    let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::NONE);
    match poll(&mut watched, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let any = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
    Ok((any(&watched[0]), watched.get(1).is_some_and(any)))
}

#[cfg(test)]
mod tests;
