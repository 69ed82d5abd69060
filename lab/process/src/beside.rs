//! A program that goes on beside the runs: a server, or what watches something.

use std::{
    io,
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use crate::{cpus, guard};

/// Between two looks at one that is about to end.
const LOOK: Duration = Duration::from_millis(20);

/// A program in a group of its own: a terminal's Ctrl-C is for the lab, which ends it in order.
/// Dropped, it is killed with its group.
#[derive(Debug)]
pub struct Beside {
    child: Child,
    /// It was waited for: its number may be somebody else's.
    is_over: bool,
}

impl Beside {
    /// Starts it on these processors, or on all of the lab's where none is named.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(command: &mut Command, cpus: &[usize]) -> io::Result<Self> {
        let command = guard::mark(command).process_group(0);
        cpus::pin(command, cpus)?;
        Ok(Self { child: command.spawn()?, is_over: false })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it reads, where that is a pipe; once.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// What it prints, where that is a pipe; once.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Whether it goes on.
    pub fn is_up(&mut self) -> bool {
        self.is_over |= !matches!(self.child.try_wait(), Ok(None));
        !self.is_over
    }

    /// Waits for its end, which it was asked for, this long at most.
    pub fn wait(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while self.is_up() && Instant::now() < end {
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
