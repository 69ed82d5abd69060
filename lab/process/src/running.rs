//! A started command until its end.

use std::{
    io::{self, PipeReader, Read},
    os::fd::{AsFd, AsRawFd, OwnedFd},
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

use crate::{Ended, Finished, Run, RunError, counters::Open, cpus, kernel};

/// A loop over a pipe reads this much at once: what a pipe holds.
const PIPE_BYTES: usize = 64 << 10;

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
        let (mut command, reader) = run.command()?;
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
        let ended = by_us.unwrap_or(status);
        Ok(Finished { ended, wall, usage, transfers, counters, output: self.output()? })
    }

    /// Reads what the pipe holds.
    fn read(&mut self) -> io::Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let mut buffer = [0; PIPE_BYTES];
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
        while self.open && self.bytes < ended + PIPE_BYTES as u64 {
            let Some(pipe) = &self.reader else { break };
            let mut watched = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
            wait_for(&mut watched, Some(Duration::ZERO))?;
            if !watched[0].any().unwrap_or(false) {
                break;
            }
            self.read()?;
        }
        let Self { reader, hash, bytes, .. } = self;
        let hex = |byte: &u8| format!("{byte:02x}");
        Ok(reader.map(|_| (hash.finalize().iter().map(hex).collect(), bytes)))
    }
}

/// Returns when each command has ended or has been ended. A poll and no thread that looks again
/// and again: nothing of the lab wakes up beside the commands.
pub(crate) fn follow(commands: &mut [&mut Running], interrupted: &AtomicBool) -> io::Result<()> {
    loop {
        let now = Instant::now();
        let mut left: Option<Duration> = None;
        for command in commands.iter_mut().filter(|command| command.stopped.is_none()) {
            let rest = command.deadline.map(|at| at.saturating_duration_since(now));
            let by_us = match interrupted.load(Ordering::Relaxed) {
                true => Some(Ended::Interrupted),
                false => rest.filter(Duration::is_zero).map(|_| Ended::TimedOut),
            };
            match by_us {
                Some(_) => command.stopped = Some(command.stop(by_us)),
                None => left = left.into_iter().chain(rest).min(),
            }
        }
        if commands.iter().all(|command| command.stopped.is_some()) {
            return Ok(());
        }
        let ready = ready(commands, left)?;
        for (command, Ready { ended, readable }) in commands.iter_mut().zip(ready) {
            if ended {
                command.stopped = Some(command.stop(None));
            } else if readable {
                command.read()?;
            }
        }
    }
}

/// What a command that has not been stopped waits to be asked for.
#[derive(Clone, Copy, Default)]
struct Ready {
    ended: bool,
    readable: bool,
}

/// Waits for an end or for output of any, a signal or the time; nothing is ready after these.
fn ready(commands: &[&mut Running], left: Option<Duration>) -> io::Result<Vec<Ready>> {
    let mut watched = Vec::new();
    let mut places = Vec::new();
    for (place, command) in commands.iter().enumerate() {
        if command.stopped.is_none() {
            let pipe = command.reader.as_ref().filter(|_| command.open).map(AsFd::as_fd);
            for fd in [command.process.as_fd()].into_iter().chain(pipe) {
                watched.push(PollFd::new(fd, PollFlags::POLLIN));
                places.push((place, fd.as_raw_fd() == command.process.as_raw_fd()));
            }
        }
    }
    wait_for(&mut watched, left)?;
    let mut ready = vec![Ready::default(); commands.len()];
    for (fd, (place, is_process)) in watched.iter().zip(places) {
        let any = fd.any().unwrap_or(false);
        let ready: &mut Ready = &mut ready[place];
        *(if is_process { &mut ready.ended } else { &mut ready.readable }) |= any;
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
