//! Nothing that the lab has started outlives it, not even where it is killed: a guard beside it
//! waits for its end, then ends what is left and removes its scratch folder.
//!
//! What the lab starts carries two marks, which daemons inherit too: a variable of its environment,
//! and limits that no other process has. A program that starts its daemon with an empty environment
//! leaves the limits as they are; one that knows of both can take both away. The guard holds the
//! end of a pipe whose other end the lab alone has, so the kernel tells it of every way to die.

use std::{
    fs,
    io::{self, PipeWriter, Read},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio, id},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use nix::{
    sys::{
        resource::{Resource, getrlimit, setrlimit},
        signal::{Signal, kill},
    },
    unistd::Pid,
};

use crate::scratch;

/// The variable that everything we start has in its environment.
const VARIABLE: &str = "LAB_STARTED_BY";
/// What is limited of everything that we start.
const MARKED: Resource = Resource::RLIMIT_MSGQUEUE;
/// Its name in `/proc/PID/limits`.
const MARKED_NAME: &str = "Max msgqueue size";
/// What Linux allows who did not ask for more or less.
const QUEUE_BYTES_MOST: u64 = 819_200;
/// A process that starts others while it is ended needs another look; after so many it wins.
const LOOKS_MAX: u32 = 200;
/// A process whose program is about to be replaced by another has no environment for a moment: so
/// many looks at nothing, one after the other, are the end.
const LOOKS_AT_NOTHING: u32 = 3;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether this process has, or had, a guard.
static GUARDED: AtomicBool = AtomicBool::new(false);

/// Puts this lab's mark on a command that is about to be started, where a guard looks for it.
pub(crate) fn mark(command: &mut Command) -> &mut Command {
    if GUARDED.load(Ordering::Relaxed) {
        command.env(VARIABLE, own_mark());
    }
    command
}

/// No other lab has it, before or after: process, time, and the two limits.
pub(crate) fn own_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let (soft, hard) = own_limits(now).unwrap_or_default();
        // Of one length: what is started finds its memory at the same places under another lab.
        format!("{:010}-{now:020}-{soft:06}-{hard:06}", id())
    })
}

/// Bytes of POSIX message queues, which nothing here uses: a little less than what is allowed, by
/// so much as no lab beside this one took. Anybody may lower limits.
fn own_limits(now_ns: u128) -> Option<(u64, u64)> {
    let (_, allowed) = getrlimit(MARKED).ok()?;
    let most = allowed.min(QUEUE_BYTES_MOST);
    let draw = u64::from(id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (now_ns as u64);
    // The two are not equal, or those of a system that sets them itself might be the same.
    let hard = most.checked_sub(1 + draw % (most / 4).max(1))?;
    let soft = hard.checked_sub(1 + (draw >> 32) % (most / 4).max(1))?;
    Some((soft, hard))
}

/// The limits in a mark, where there are any.
fn limits(mark: &str) -> Option<(u64, u64)> {
    let mut parts = mark.rsplit('-').map(str::parse::<u64>);
    let (hard, soft) = (parts.next()?.ok()?, parts.next()?.ok()?);
    (soft > 0 && soft < hard).then_some((soft, hard))
}

/// From now on what this process starts has both marks: after its guard, which must not find
/// itself. Where the second is refused the other is left.
fn mark_own() {
    GUARDED.store(true, Ordering::Relaxed);
    if let Some((soft, hard)) = limits(own_mark()) {
        let _ = setrlimit(MARKED, soft, hard);
    }
}

/// A guard that lasts as long as this value, or its process.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Starts `lab guard`, which will see to what this process starts and to this folder.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(lab: &Path, scratch: &Path) -> io::Result<Self> {
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
        mark_own();
        Ok(Self(child))
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
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
        if !between.arg("--apart").stdin(read).status()?.success() {
            return Err(io::Error::other("it ended at once"));
        }
        mark_own();
        Ok(Self(write))
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
/// and removes `scratch_folder`.
///
/// # Errors
/// Where the folder cannot be removed, or a process cannot be ended.
pub fn keep_guard(mark: &str, scratch_folder: &Path) -> io::Result<()> {
    // A lab that had a guard before has passed its limits on to this one.
    if let Ok((_, hard)) = getrlimit(MARKED) {
        let _ = setrlimit(MARKED, 0, hard);
    }
    let mut nothing = Vec::new();
    // An error is an end, too.
    let _ = io::stdin().take(1).read_to_end(&mut nothing);
    end_marked(mark)?;
    match scratch::remove(scratch_folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Ends every process with one of these marks, again until there is none.
fn end_marked(mark: &str) -> io::Result<()> {
    let mut at_nothing = 0;
    for _ in 0..LOOKS_MAX {
        let left = marked(mark)?;
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

fn marked(mark: &str) -> io::Result<Vec<Pid>> {
    let variable = format!("{VARIABLE}={mark}");
    let has_variable = |environment: Vec<u8>| {
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    let limits = limits(mark);
    // The lab has the limits too, and goes on.
    let lab = mark.split('-').next().and_then(|pid| pid.parse::<i32>().ok());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        if Some(pid) == lab {
            continue;
        }
        // Those of other people cannot be read; that of a zombie is empty.
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let is_limited =
            || limits.is_some() && limits_in(&String::from_utf8_lossy(&read("limits"))) == limits;
        if has_variable(read("environ")) || (is_limited() && !is_zombie(&read("stat"))) {
            found.push(Pid::from_raw(pid));
        }
    }
    Ok(found)
}

/// The limits of message queues in `/proc/PID/limits`: soft, hard.
fn limits_in(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix(MARKED_NAME))?;
    let mut values = line.split_whitespace().map(str::parse);
    Some((values.next()?.ok()?, values.next()?.ok()?))
}

/// It has limits until somebody waits for it.
fn is_zombie(stat: &[u8]) -> bool {
    let stat = String::from_utf8_lossy(stat);
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
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

    #[test]
    fn limits_are_a_mark_of_their_own() {
        let (soft, hard) = own_limits(7).unwrap();
        assert!(0 < soft && soft < hard && hard < QUEUE_BYTES_MOST, "{soft} {hard}");
        assert_eq!(limits(&format!("12-34-{soft}-{hard}")), Some((soft, hard)));
        assert_eq!(limits("12-34-0-0"), None, "a system that has none");
        assert_eq!(limits("12-test"), None);
        let text = "Limit   Soft Limit   Hard Limit   Units\n\
                    Max msgqueue size         700000               800000               bytes\n";
        assert_eq!(limits_in(text), Some((700_000, 800_000)));
        assert_eq!(limits_in("Max msgqueue size unlimited unlimited bytes\n"), None);
        assert!(is_zombie(b"7 (a) b) Z 1 7") && !is_zombie(b"7 (Z ) S 1 7"));
    }
}
