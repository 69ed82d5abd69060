//! Processes that outlive what started them in a session of their own, where ending a command's
//! group does not reach them.

use std::{cell::RefCell, collections::BTreeSet, fs, process, thread, time::Duration};

use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{Signal, kill},
        wait::{Id, WaitPidFlag, WaitStatus, waitid},
    },
    unistd::{Pid, getsid},
};

use crate::{guard::own_mark, kernel};

/// The variable of what is kept, by which its own orphans are known.
const KEPT: &str = "LAB_KEPT_BY";
/// An orphan that is ended leaves its own children to us; after so many looks it wins.
const LOOKS_MAX: u32 = 100;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);
/// Whether there is an end to wait for, which stays to be waited for.
const LOOK: WaitPidFlag =
    WaitPidFlag::WEXITED.union(WaitPidFlag::WNOHANG).union(WaitPidFlag::WNOWAIT);

/// The orphans among this process's descendants, which it inherits while there is one of these
/// values. What is left when that is dropped is ended.
///
/// Its methods take every child that was not there before it for an orphan: no command may run
/// meanwhile.
#[derive(Debug)]
pub struct Orphans {
    /// What was there before, which the user started. A shell becomes the last command of its line,
    /// as in `sh -c 'server & exec lab …'`, and its children are that command's then.
    others: Spared,
    /// What stays until the end.
    kept: RefCell<Spared>,
}

/// What was left behind, and has been ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// Processes that nobody had waited for; some may have ended by themselves.
    pub processes: u64,
    /// The CPU time that they and the children that they waited for had.
    pub cpu_ns: u64,
}

/// What is not ended.
#[derive(Debug, Default)]
struct Spared {
    processes: BTreeSet<i32>,
    sessions: BTreeSet<i32>,
}

/// What the kernel tells of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    session: i32,
}

impl Orphans {
    /// From now on orphans become children of this process. Where the kernel refuses that they are
    /// left to process 1, as they are without this. The descendants that this process has by now
    /// are never ended, nor is what belongs to their sessions later.
    pub fn inherit() -> Self {
        let _ = prctl::set_child_subreaper(true);
        let mut others = Spared::default();
        others.add(descendants());
        Self { others, kept: RefCell::default() }
    }

    /// What is there now, and what belongs to the same sessions later, stays until
    /// [`Self::end_all`].
    pub fn keep(&self) {
        if any() {
            self.kept.borrow_mut().add(own_children());
        }
    }

    /// A variable for what starts servers: what has it stays, even where it is inherited long after
    /// [`Self::keep`], as from a daemon that was still about to leave its parent.
    pub fn kept_mark() -> (String, String) {
        (KEPT.to_owned(), own_mark().to_owned())
    }

    /// Whether something was left behind, and none of it runs any more.
    pub fn have_ended(&self) -> bool {
        let left = own_children().into_iter().filter(|child| !self.others.holds(*child));
        let mut left = left.peekable();
        left.peek().is_some() && left.all(|child| has_ended(child.pid))
    }

    /// Ends what is there and is not kept, with all that it started. A system call where there is
    /// nothing.
    pub fn end(&self) {
        self.end_beside(&[]);
    }

    /// The same beside children for whom others wait, and says what it was.
    pub fn end_beside(&self, own: &[u32]) -> Left {
        self.end_unless(|child| own.contains(&child.pid.cast_unsigned()) || is_marked(child.pid))
    }

    /// Ends everything that has come since [`Self::inherit`].
    pub fn end_all(&self) {
        self.kept.take();
        self.end_unless(|_| false);
    }

    fn end_unless(&self, is_spared: impl Fn(&Process) -> bool) -> Left {
        let mut kept = self.kept.borrow_mut();
        let (mut ended, mut cpu_ns) = (BTreeSet::new(), 0);
        for look in 0..LOOKS_MAX {
            if !any() {
                break;
            }
            let mut left = own_children();
            left.retain(|child| !self.others.holds(*child) && !kept.holds(*child));
            left.retain(|child| !is_spared(child));
            if left.is_empty() {
                break;
            }
            if look > 0 {
                thread::sleep(PAUSE);
            }
            for Process { pid, .. } in left {
                // Nobody has waited for it, so the number is still its own.
                if kill(Pid::from_raw(pid), Signal::SIGKILL) == Err(Errno::EPERM) {
                    kept.processes.insert(pid);
                    continue;
                }
                ended.insert(pid);
                let waited = kernel::wait_if_ended(pid.cast_unsigned()).ok().flatten();
                cpu_ns += waited.map_or(0, |(_, usage)| usage.cpu_ns());
            }
        }
        Left { processes: ended.len() as u64, cpu_ns }
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        self.end_all();
        let _ = prctl::set_child_subreaper(false);
    }
}

impl Spared {
    fn holds(&self, process: Process) -> bool {
        self.processes.contains(&process.pid) || self.sessions.contains(&process.session)
    }

    /// With their sessions, but for this process's own, which says nothing of them.
    fn add(&mut self, processes: Vec<Process>) {
        let own = getsid(None).map_or(0, Pid::as_raw);
        for Process { pid, session, .. } in processes {
            self.processes.insert(pid);
            if session != own {
                self.sessions.insert(session);
            }
        }
    }
}

/// Whether this process has a child, dead ones that nobody has waited for included.
fn any() -> bool {
    waitid(Id::All, LOOK) != Err(Errno::ECHILD)
}

/// Whether a child has ended, and nobody has waited for it.
fn has_ended(child: i32) -> bool {
    !matches!(waitid(Id::Pid(Pid::from_raw(child)), LOOK), Ok(WaitStatus::StillAlive))
}

/// Whether it was started with [`Orphans::kept_mark`]; what has ended is not.
fn is_marked(process: i32) -> bool {
    let mark = format!("{KEPT}={}", own_mark());
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

fn own_children() -> Vec<Process> {
    let this = process::id();
    match children(this) {
        Some(listed) => listed.into_iter().filter_map(known).collect(),
        None => processes().filter(|process| process.parent == this.cast_signed()).collect(),
    }
}

/// The children of a process, from all of its threads. `None` where the kernel does not list them
/// (it was built without `CONFIG_PROC_CHILDREN`).
pub fn children(process: u32) -> Option<Vec<u32>> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let lists = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")));
    let lists = lists.collect::<Result<Vec<_>, _>>().ok()?;
    Some(lists.iter().flat_map(|list| list.split_whitespace()).flat_map(str::parse).collect())
}

/// This process's children, theirs, and so on. A system call where there is nothing.
fn descendants() -> Vec<Process> {
    if !any() {
        return Vec::new();
    }
    let mut left: Vec<Process> = processes().collect();
    let (mut found, mut parents) = (Vec::new(), vec![process::id().cast_signed()]);
    while let Some(parent) = parents.pop() {
        let children = left.extract_if(.., |process| process.parent == parent);
        for child in children {
            parents.push(child.pid);
            found.push(child);
        }
    }
    found
}

/// Of all processes: not every kernel lists the children of one.
fn processes() -> impl Iterator<Item = Process> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| known(process.file_name().to_str()?.parse().ok()?))
}

/// What `/proc/PID/stat` says.
fn known(process: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (parent, session) = parent_and_session(&stat)?;
    Some(Process { pid: process.cast_signed(), parent, session })
}

/// Fields 4 and 6 of proc_pid_stat(5). The second, the program's name in brackets, may hold spaces
/// and brackets itself.
fn parent_and_session(stat: &str) -> Option<(i32, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some((fields.get(1)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_hides_no_field() {
        let stat = "77 (a) b (c) S 12 77 34 0 -1 4194560";
        assert_eq!(parent_and_session(stat), Some((12, 34)));
        assert_eq!(parent_and_session("77 (a"), None);
        assert_eq!(parent_and_session("77 (a) S 12"), None);
    }
}
