//! A started command until its end.

use std::{
    io::{self, PipeReader, Read},
    os::fd::{AsFd, OwnedFd},
    process::Child,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use sha2::{Digest, Sha256};

use crate::{
    Ended, Finished, Run, RunError, Taken,
    counters::Open,
    cpus, kernel,
    printed::{Kept, Last, PIECE_BYTES, hex},
};

/// Between two looks at how much a command has printed into memory: what it prints meanwhile is
/// what it may go beyond its bound.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A started command.
pub(crate) struct Running {
    child: Child,
    process: OwnedFd,
    counters: Open,
    start: Instant,
    deadline: Option<Instant>,
    reader: Option<PipeReader>,
    /// Whether the pipe's other end may still be open.
    open: bool,
    kept: Option<Kept>,
    errors: Option<Last>,
    hash: Sha256,
    bytes: u64,
    stopped: Option<Stop>,
}

/// A command's end.
struct Stop {
    wall: Duration,
    by_us: Option<Ended>,
    /// What became of ending the rest of its group.
    group: nix::Result<()>,
}

impl Running {
    pub(crate) fn start(run: &Run, counters: Open) -> Result<Self, RunError> {
        let (mut command, Taken { reader, kept, errors }) = run.command()?;
        cpus::pin(&mut command, &run.cpus)?;
        let start = Instant::now();
        let mut child = command.spawn().map_err(|source| RunError::Start {
            program: run.argv[0].to_string_lossy().into_owned(),
            source,
        })?;
        // The command holds the pipe's other end, and would keep it open.
        drop(command);
        let process = kernel::descriptor(child.id()).or_else(|error| {
            child.kill().and_then(|()| child.wait())?;
            Err(error)
        })?;
        Ok(Self {
            child,
            process,
            counters,
            start,
            deadline: run.timeout.map(|timeout| start + timeout),
            open: reader.is_some(),
            reader,
            kept,
            errors,
            hash: Sha256::new(),
            bytes: 0,
            stopped: None,
        })
    }

    /// Its time is over, by itself or as we say. What is left of its group is ended.
    fn stop(&self, by_us: Option<Ended>) -> Stop {
        let wall = self.start.elapsed();
        // Before it is waited for: until then no other process can have its number.
        let group = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        Stop { wall, by_us, group }
    }

    /// What there is to say of it; it is ended if it has not been.
    pub(crate) fn finish(mut self) -> Result<Finished, RunError> {
        let stopped = self.stopped.take();
        let Stop { wall, by_us, group } =
            stopped.unwrap_or_else(|| self.stop(Some(Ended::Interrupted)));
        let process = self.child.id();
        let transfers = kernel::transfers(process);
        let (status, usage) = kernel::wait(process)?;
        if !matches!(group, Ok(()) | Err(Errno::ESRCH | Errno::EPERM)) {
            return Err(RunError::Follow(io::Error::other("cannot end the command's group")));
        }
        let counters = self.counters.read();
        let is_full = self.kept.as_ref().map_or(Ok(false), Kept::is_full)?;
        let ended = match by_us {
            None if is_full => Ended::PrintedTooMuch,
            _ => by_us.unwrap_or(status),
        };
        let errors = self.errors()?;
        let output = match &self.kept {
            // Nobody reads what is too long.
            Some(kept) if !is_full => kept.hash()?,
            _ => self.output()?,
        };
        let outputs_differ = false;
        Ok(Finished { ended, wall, usage, transfers, counters, output, outputs_differ, errors })
    }

    /// The last complaints, with what is left of them in the pipe.
    fn errors(&mut self) -> io::Result<Vec<u8>> {
        let Some(mut errors) = self.errors.take() else { return Ok(Vec::new()) };
        let mut left = PIECE_BYTES;
        while errors.open && left > 0 && is_readable(&errors.pipe)? {
            left = left.saturating_sub(errors.read()?.max(1));
        }
        Ok(errors.into_bytes())
    }

    /// Reads what the pipe holds.
    fn read(&mut self) -> io::Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let mut buffer = [0; PIECE_BYTES];
        let count = reader.read(&mut buffer)?;
        self.hash.update(&buffer[..count]);
        self.bytes += count as u64;
        self.open = count > 0;
        Ok(())
    }

    /// Takes what was left in the pipe when the command ended, and not what another process, to
    /// which it gave the pipe, writes later.
    fn output(mut self) -> io::Result<Option<(String, u64)>> {
        let ended = self.bytes;
        while self.open && self.bytes < ended + PIECE_BYTES as u64 {
            let Some(pipe) = &self.reader else { break };
            if !is_readable(pipe)? {
                break;
            }
            self.read()?;
        }
        let Self { reader, hash, bytes, .. } = self;
        Ok(reader.map(|_| (hex(hash), bytes)))
    }

    /// Why it is ended by us now, if it is.
    fn to_be_ended(&self, rest: Option<Duration>, interrupted: bool) -> io::Result<Option<Ended>> {
        Ok(if interrupted {
            Some(Ended::Interrupted)
        } else if rest.is_some_and(|rest| rest.is_zero()) {
            Some(Ended::TimedOut)
        } else {
            let is_full = self.kept.as_ref().map_or(Ok(false), Kept::is_full)?;
            is_full.then_some(Ended::PrintedTooMuch)
        })
    }
}

fn is_readable(pipe: &PipeReader) -> io::Result<bool> {
    let mut watched = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    wait_for(&mut watched, Some(Duration::ZERO))?;
    Ok(watched[0].any().unwrap_or(false))
}

/// Returns when each command has ended or has been ended. A poll and no thread that looks again
/// and again: nothing of the lab wakes up beside the commands.
pub(crate) fn follow(commands: &mut [&mut Running], interrupted: &AtomicBool) -> io::Result<()> {
    loop {
        let now = Instant::now();
        let mut left: Option<Duration> = None;
        for command in commands.iter_mut().filter(|command| command.stopped.is_none()) {
            let rest = command.deadline.map(|at| at.saturating_duration_since(now));
            let by_us = command.to_be_ended(rest, interrupted.load(Ordering::Relaxed))?;
            let look = command.kept.as_ref().is_some_and(Kept::is_bounded);
            match by_us {
                Some(_) => command.stopped = Some(command.stop(by_us)),
                None => {
                    let next = rest.into_iter().chain(look.then_some(BETWEEN_LOOKS));
                    left = left.into_iter().chain(next).min();
                }
            }
        }
        if commands.iter().all(|command| command.stopped.is_some()) {
            return Ok(());
        }
        let ready = ready(commands, left)?;
        for (command, Ready { ended, readable, complains }) in commands.iter_mut().zip(ready) {
            if ended {
                command.stopped = Some(command.stop(None));
                continue;
            }
            if readable {
                command.read()?;
            }
            if let Some(errors) = command.errors.as_mut().filter(|_| complains) {
                errors.read()?;
            }
        }
    }
}

/// What a command that has not been stopped waits to be asked for.
#[derive(Clone, Copy, Default)]
struct Ready {
    ended: bool,
    readable: bool,
    complains: bool,
}

/// What of a command is watched.
#[derive(Clone, Copy)]
enum Watched {
    End,
    Output,
    Errors,
}

/// Waits for an end or for output of any, a signal or the time; nothing is ready after these.
fn ready(commands: &[&mut Running], left: Option<Duration>) -> io::Result<Vec<Ready>> {
    let mut watched = Vec::new();
    let mut places = Vec::new();
    for (place, command) in commands.iter().enumerate() {
        if command.stopped.is_none() {
            let output = command.reader.as_ref().filter(|_| command.open);
            let errors = command.errors.as_ref().filter(|errors| errors.open);
            let all = [
                Some((Watched::End, command.process.as_fd())),
                output.map(|pipe| (Watched::Output, pipe.as_fd())),
                errors.map(|errors| (Watched::Errors, errors.pipe.as_fd())),
            ];
            for (what, fd) in all.into_iter().flatten() {
                watched.push(PollFd::new(fd, PollFlags::POLLIN));
                places.push((place, what));
            }
        }
    }
    wait_for(&mut watched, left)?;
    let mut ready = vec![Ready::default(); commands.len()];
    for (fd, (place, what)) in watched.iter().zip(places) {
        let any = fd.any().unwrap_or(false);
        let ready: &mut Ready = &mut ready[place];
        *match what {
            Watched::End => &mut ready.ended,
            Watched::Output => &mut ready.readable,
            Watched::Errors => &mut ready.complains,
        } |= any;
    }
    Ok(ready)
}

/// Until one of these is ready; none is after a signal or the time.
fn wait_for(watched: &mut [PollFd<'_>], left: Option<Duration>) -> io::Result<()> {
    // Up to a millisecond late, and never early.
    let milliseconds = |left: Duration| i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
    let timeout = left.map_or(-1, milliseconds);
    let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::NONE);
    match poll(watched, timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
