//! A started command until its end.

use std::{
    io,
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

use crate::{
    Bound, Ended, Finished, Run, RunError, Taken,
    counters::Open,
    cpus, hindrance, kernel, monotonic_ns,
    printed::{Kept, PIECE_BYTES, Piped, Remembered},
};

/// Between two looks at how much a command has printed into memory: what it prints meanwhile is
/// what it may go beyond its bound.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// The same of a file that it writes by its name: nobody knows when, and disks are patient.
const BETWEEN_LOOKS_AT_FILES: Duration = Duration::from_millis(250);
/// A command whose output is closed is ending, or hiding. This is plenty for the first.
const ENDING: Duration = Duration::from_secs(1);

/// A started command.
pub(crate) struct Running {
    child: Child,
    process: OwnedFd,
    counters: Open,
    start_ns: u64,
    deadline: Option<Instant>,
    /// When it has to have ended instead, since its output is closed, where that was asked for.
    ending: Option<Instant>,
    printed: Option<Piped>,
    kept: Option<Kept>,
    errors: Option<Piped>,
    remembered: Option<Remembered>,
    bound: Option<Bound>,
    /// When that file is looked at for the first time.
    looks_at_file: Instant,
    leaves: bool,
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
        let (mut command, Taken { printed, kept, errors, remembered }) = run.command()?;
        cpus::pin(&mut command, &run.cpus)?;
        let deadline = run.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let (looks_at_file, start_ns) = (Instant::now() + BETWEEN_LOOKS_AT_FILES, monotonic_ns());
        let mut child = command.spawn().map_err(|source| RunError::Start {
            program: run.argv[0].to_string_lossy().into_owned(),
            source: hindrance::told(&run.argv[0], source),
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
            start_ns,
            deadline,
            looks_at_file,
            ending: None,
            printed,
            kept,
            errors,
            remembered,
            bound: run.bound.clone(),
            leaves: run.leaves,
            stopped: None,
        })
    }

    /// Its time is over, by itself or as we say. What is left of its group is ended, unless it may
    /// leave that.
    fn stop(&self, by_us: Option<Ended>) -> Stop {
        let wall = Duration::from_nanos(monotonic_ns() - self.start_ns);
        // Before it is waited for: until then no other process can have its number.
        let group = match by_us {
            None if self.leaves => Ok(()),
            _ => killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL),
        };
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
        for pipe in [&mut self.printed, &mut self.errors].into_iter().flatten() {
            read_rest(pipe)?;
        }
        let too_much = self.too_much(true)?;
        let output = match &self.kept {
            // Nobody reads what is too long.
            Some(kept) if too_much.is_none() => kept.hash()?,
            _ => self.printed.as_ref().and_then(Piped::hash),
        };
        let whole = |pipe: Option<Piped>| pipe.map(Piped::into_bytes).unwrap_or_default();
        Ok(Finished {
            ended: by_us.or(too_much).unwrap_or(status),
            start_ns: self.start_ns,
            wall,
            usage,
            transfers,
            counters,
            output,
            printed: whole(self.printed),
            outputs_differ: false,
            errors: match self.remembered {
                Some(remembered) => remembered.last()?,
                None => whole(self.errors),
            },
        })
    }

    /// Of which of its outputs there is more than there may be, if of any.
    fn too_much(&self, looks_at_file: bool) -> io::Result<Option<Ended>> {
        let is_kept_full = self.kept.as_ref().map_or(Ok(false), Kept::is_full)?;
        let is_piped_full = self.printed.as_ref().is_some_and(Piped::is_full);
        let is_file_full = looks_at_file && self.bound.as_ref().is_some_and(Bound::is_full);
        Ok(if is_kept_full || is_piped_full || is_file_full {
            Some(Ended::PrintedTooMuch)
        } else {
            self.errors.as_ref().is_some_and(Piped::is_full).then_some(Ended::ComplainedTooMuch)
        })
    }

    /// Why it is ended by us now, if it is.
    fn why_end_now(&mut self, now: Instant, interrupted: bool) -> io::Result<Option<Ended>> {
        self.remembered.as_mut().map_or(Ok(()), Remembered::look)?;
        let is_past = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        Ok(if interrupted {
            Some(Ended::Interrupted)
        } else if is_past(self.ending) {
            Some(Ended::Hid)
        } else if self.ending.is_none() && is_past(self.deadline) {
            Some(Ended::TimedOut)
        } else {
            // Not at once: the file may be there from before, and the command about to empty it.
            self.too_much(now >= self.looks_at_file)?
        })
    }

    /// How long it may be left alone.
    fn rest(&self, now: Instant) -> Option<Duration> {
        let end = self.ending.or(self.deadline);
        let is_bounded = self.kept.as_ref().is_some_and(Kept::is_bounded);
        let looks = [
            is_bounded.then_some(BETWEEN_LOOKS),
            self.bound.as_ref().map(|_| BETWEEN_LOOKS_AT_FILES),
            self.remembered.as_ref().map(|_| BETWEEN_LOOKS_AT_FILES),
        ];
        let left = end.map(|end| end.saturating_duration_since(now));
        left.into_iter().chain(looks.into_iter().flatten()).min()
    }

    /// Reads what is there to be read.
    fn read(&mut self, ready: Ready) -> io::Result<()> {
        if let Some(printed) = self.printed.as_mut().filter(|_| ready.readable)
            && printed.read()? == 0
            && printed.is_whole()
        {
            self.ending = Some(Instant::now() + ENDING);
        }
        if let Some(errors) = self.errors.as_mut().filter(|_| ready.complains) {
            errors.read()?;
        }
        Ok(())
    }
}

/// Takes what was left in a pipe when the command ended, and not what another process, to which it
/// gave the pipe, writes later.
fn read_rest(pipe: &mut Piped) -> io::Result<()> {
    let mut left = PIECE_BYTES;
    while pipe.open && left > 0 && is_readable(pipe)? {
        left = left.saturating_sub(pipe.read()?.max(1));
    }
    Ok(())
}

fn is_readable(pipe: &Piped) -> io::Result<bool> {
    let mut watched = [PollFd::new(pipe.pipe.as_fd(), PollFlags::POLLIN)];
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
            let by_us = command.why_end_now(now, interrupted.load(Ordering::Relaxed))?;
            match by_us {
                Some(_) => command.stopped = Some(command.stop(by_us)),
                None => left = left.into_iter().chain(command.rest(now)).min(),
            }
        }
        if commands.iter().all(|command| command.stopped.is_some()) {
            return Ok(());
        }
        let ready = ready(commands, left)?;
        for (command, ready) in commands.iter_mut().zip(ready) {
            match ready.ended {
                true => command.stopped = Some(command.stop(None)),
                false => command.read(ready)?,
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
            let output = command.printed.as_ref().filter(|pipe| pipe.open);
            let errors = command.errors.as_ref().filter(|pipe| pipe.open);
            let all = [
                Some((Watched::End, command.process.as_fd())),
                output.map(|pipe| (Watched::Output, pipe.pipe.as_fd())),
                errors.map(|pipe| (Watched::Errors, pipe.pipe.as_fd())),
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
