//! Nothing that the lab has started outlives it, not even where it is killed: a guard beside it
//! waits for its end, then ends what is left and removes its scratch folder.
//!
//! What the lab starts carries a mark in its environment, which daemons inherit too. The guard
//! holds the end of a pipe whose other end the lab alone has, so the kernel tells it of every way
//! to die.

use std::{
    fs,
    io::{self, PipeWriter, Read},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio, id},
    sync::OnceLock,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// The variable that everything we start has in its environment.
const VARIABLE: &str = "LAB_STARTED_BY";
/// A process that starts others while it is ended needs another look; after so many it wins.
const LOOKS_MAX: u32 = 200;
/// A process whose program is about to be replaced by another has no environment for a moment: so
/// many looks at nothing, one after the other, are the end.
const LOOKS_AT_NOTHING: u32 = 3;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Puts this lab's mark on a command that is about to be started.
pub(crate) fn mark(command: &mut Command) -> &mut Command {
    command.env(VARIABLE, own_mark())
}

/// No other lab has it, before or after.
fn own_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        // Of one length: what is started finds its memory at the same places under another lab.
        format!("{:010}-{now:020}", id())
    })
}

/// A guard that lasts as long as this value, or its process.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts `lab guard`, which will see to what this process starts and to this folder.
    pub(crate) fn start(lab: &Path, scratch: &Path) -> io::Result<Self> {
        let child = Command::new(lab)
            .arg("guard")
            .arg(own_mark())
            .arg(scratch)
            // Of a lab that started this one, whose own guard is not to end this one's.
            .env_remove(VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // Ctrl-C is for the lab.
            .process_group(0)
            .spawn()?;
        Ok(Self(child))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It ends when its pipe is closed, after it has ended the rest.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// The variable, with its value, by which the guard of this process knows what this process starts.
#[must_use]
pub fn guarded() -> (&'static str, &'static str) {
    (VARIABLE, own_mark())
}

/// A guard that is no child of this process, for one that takes every child for a stranger. It
/// lasts as long as this value, or its process, and a moment longer.
#[derive(Debug)]
pub struct GuardApart(#[expect(dead_code, reason = "held open")] PipeWriter);

impl GuardApart {
    /// Starts `lab guard` out of the program that runs here.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(scratch: &Path) -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        let mut between = own_guard(own_mark(), scratch);
        match between.arg("--apart").stdin(read).status()?.success() {
            true => Ok(Self(write)),
            false => Err(io::Error::other("it ended at once")),
        }
    }
}

/// What `lab guard --apart` does: starts the guard and leaves it to process 1.
///
/// # Errors
/// Where it cannot be started.
pub fn leave_guard(mark: &str, scratch: &Path) -> io::Result<()> {
    own_guard(mark, scratch).process_group(0).spawn().map(drop)
}

/// `lab guard`, whatever lies at this program's path by now.
fn own_guard(mark: &str, scratch: &Path) -> Command {
    let mut guard = Command::new("/proc/self/exe");
    guard.arg0("lab").arg("guard").arg(mark).arg(scratch).env_remove(VARIABLE);
    // Nobody waits for its end who reads what the lab prints.
    guard.stdout(Stdio::null()).stderr(Stdio::null());
    guard
}

/// What `lab guard` does: waits for the end of who started it, ends everything that carries `mark`
/// and removes `scratch`.
///
/// # Errors
/// Where the folder cannot be removed, or a process cannot be ended.
pub fn keep_guard(mark: &str, scratch: &Path) -> io::Result<()> {
    let mut nothing = Vec::new();
    // An error is an end, too.
    let _ = io::stdin().take(1).read_to_end(&mut nothing);
    end_marked(mark)?;
    match fs::remove_dir_all(scratch) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Ends every process with this mark in its environment, again until there is none.
fn end_marked(mark: &str) -> io::Result<()> {
    let wanted = format!("{VARIABLE}={mark}");
    let mut at_nothing = 0;
    for _ in 0..LOOKS_MAX {
        let left = marked(&wanted)?;
        at_nothing = if left.is_empty() { at_nothing + 1 } else { 0 };
        if at_nothing == LOOKS_AT_NOTHING {
            return Ok(());
        }
        for pid in left {
            // It may have gone since.
            let _ = kill(pid, Signal::SIGKILL);
        }
        thread::sleep(PAUSE);
    }
    Err(io::Error::other("a process that was started cannot be ended"))
}

fn marked(wanted: &str) -> io::Result<Vec<Pid>> {
    let has_it = |environment: Vec<u8>| {
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        // Those of other people cannot be read; that of a zombie is empty.
        if fs::read(entry.path().join("environ")).is_ok_and(has_it) {
            found.push(Pid::from_raw(pid));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_carries_the_mark_is_ended_and_nothing_else() {
        let sleep = |mark: &str| {
            let mut command = Command::new("setsid");
            command.args(["sleep", "100"]).env(VARIABLE, mark).spawn().unwrap()
        };
        let own = format!("{}-test", id());
        let (mut ours, mut other) = (sleep(&own), sleep(&format!("{own}-other")));
        end_marked(&own).unwrap();
        assert!(!ours.wait().unwrap().success());
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
