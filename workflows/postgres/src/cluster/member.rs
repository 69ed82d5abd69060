//! A process of the cluster, as the client has it.

use std::io::{self, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Sender;

use workflows_kit::{RunError, Wire, Workload};

use super::Role;
use super::http::Caller;
use super::words::{Order, Said, hear, say};

/// What was heard of the member with this place; `None` when it has ended.
pub(super) type Heard = (usize, Option<Said>);

/// Killed when dropped.
pub(super) struct Member {
    pub(super) role: Role,
    child: Child,
    /// Its end is the process's end.
    stdin: Option<ChildStdin>,
    /// How it is told something, where not by its standard input.
    caller: Option<Caller>,
    /// It has not ended.
    pub(super) lives: bool,
    pub(super) ready: bool,
    /// It has answered the last `Count`.
    pub(super) counted: bool,
    /// What it had counted then.
    pub(super) counts: [u64; 4],
    /// The numbers that its workers have had.
    pub(super) workers: Vec<i32>,
}

impl Member {
    /// Starts this program again in that role.
    ///
    /// # Errors
    /// The system does not give a process or a thread.
    pub(super) fn start(
        role: Role,
        place: usize,
        workload: &Workload,
        news: Sender<Heard>,
    ) -> Result<Self, RunError> {
        let program = std::env::current_exe().map_err(RunError::setup)?;
        let mut command = Command::new(program);
        command.arg(role.argument()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(RunError::setup)?;
        let stdin = child.stdin.take();
        let mut said = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut member = Self {
            role,
            child,
            stdin,
            caller: None,
            lives: true,
            ready: false,
            counted: false,
            counts: [0; 4],
            workers: Vec::new(),
        };
        // One that has ended already is heard of.
        let _ = member.write(workload);
        let mut next: Box<dyn FnMut() -> Option<Vec<Said>> + Send> = match workload.wire {
            Wire::Pipe => Box::new(move || hear(&mut said).ok()?.map(|one| vec![one])),
            Wire::Http => {
                let port = port(&mut said)?;
                member.caller = Some(Caller::of(port));
                let caller = Caller::of(port);
                Box::new(move || caller.said())
            }
        };
        let listen = move || {
            while let Some(all) = next() {
                for said in all {
                    if news.send((place, Some(said))).is_err() {
                        return;
                    }
                }
            }
            let _ = news.send((place, None));
        };
        let listener = std::thread::Builder::new().name(format!("member-{place}"));
        listener.spawn(listen).map_err(RunError::setup)?;
        Ok(member)
    }

    /// Tells it something. One that has ended does not hear it, and its end is heard of.
    pub(super) fn tell(&mut self, order: &Order) {
        let _ = match &self.caller {
            Some(caller) => caller.order(order),
            None => self.write(order).ok(),
        };
    }

    fn write(&mut self, word: &impl serde::Serialize) -> io::Result<()> {
        self.stdin.as_mut().map_or(Ok(()), |stdin| say(stdin, word))
    }

    /// It says nothing more. Takes what the system still has of it.
    pub(super) fn bury(&mut self) {
        self.lives = false;
        drop(self.stdin.take());
        // One that only closed its output has broken and is of no use.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where a process that has just been started listens.
fn port(said: &mut BufReader<ChildStdout>) -> Result<u16, RunError> {
    match hear(said) {
        Ok(Some(Said::Listens { port })) => Ok(port),
        _ => Err(RunError::failed("a process of the cluster has ended before it listened")),
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.bury();
    }
}
