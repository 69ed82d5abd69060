//! The process of a server that a run needs.

use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Between two looks at one that ends.
const LOOK: Duration = Duration::from_millis(10);

/// Who has the server's process.
#[derive(Debug, Clone)]
pub enum Process {
    /// This one, whose child it is.
    Ours(Arc<Mutex<Child>>),
    /// Another one.
    Others(u32),
    /// Another one, which alone knows how it is.
    Unknown,
}

impl Process {
    /// A child of this process.
    pub fn of(child: Child) -> Self {
        Self::Ours(Arc::new(Mutex::new(child)))
    }

    /// Its number, where this process has started it.
    pub fn own(&self) -> Option<u32> {
        match self {
            Self::Ours(process) => Some(locked(process).id()),
            Self::Others(_) | Self::Unknown => None,
        }
    }

    /// Its number, where it was up before the run.
    pub fn kept(&self) -> Option<u32> {
        match self {
            Self::Others(process) => Some(*process),
            Self::Ours(_) | Self::Unknown => None,
        }
    }

    /// How the server, so called, has ended, if it did and this process can know.
    pub fn ended(&self, server: &str) -> Option<String> {
        match self {
            Self::Ours(process) => {
                let status = locked(process).try_wait().ok().flatten()?;
                Some(format!("{server} has ended ({status})"))
            }
            Self::Others(process) => {
                let is_there = Path::new(&format!("/proc/{process}")).exists();
                (!is_there).then(|| format!("{server} has ended"))
            }
            Self::Unknown => None,
        }
    }

    /// Ends one that this process has started: with each signal in turn, after which it has so
    /// long.
    pub fn end(&self, signals: &[Signal], each: Duration) {
        let Self::Ours(process) = self else { return };
        let mut process = locked(process);
        let pid = Pid::from_raw(process.id().cast_signed());
        for signal in signals {
            if !matches!(process.try_wait(), Ok(None)) {
                return;
            }
            // The process is ours and not waited for, so the number is still its own.
            let _ = kill(pid, *signal);
            for _ in 0..each.as_millis() / LOOK.as_millis() {
                if !matches!(process.try_wait(), Ok(None)) {
                    return;
                }
                sleep(LOOK);
            }
        }
    }
}

fn locked(process: &Mutex<Child>) -> MutexGuard<'_, Child> {
    process.lock().expect("nobody panics while it holds the process")
}
