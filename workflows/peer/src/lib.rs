//! A workflow system of somebody else, behind a process in its own language.
//!
//! The process is a client of the system and does its steps. Lines of JSON go to it, one a task:
//! `[task, input]`. Lines come back: `["ready", statements]`, `["accepted", task]`,
//! `["complete", task, statements]`, and once its input has ended a `["row", ...]` for each step
//! that was done, in the order of [`StepRow`]'s times; `["missing", what]` and `["failed", why]`
//! end it. This crate must never know which system that is.

#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::Value;
use workflows_kit::{Accepted, RunError, StepRow, Submission, Workload, now_ns, run_folder};

/// No single answer takes a hundredth of it; a peer that hangs must not hang the lab.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a process that ends.
const LOOK: Duration = Duration::from_millis(10);
/// Ten seconds of these.
const LOOKS: u32 = 1_000;

/// The lab's operations in Python, to stand before a peer's own script.
pub const OPERATIONS: &str = include_str!("operations.py");

/// Which system it is, for messages.
#[derive(Debug, Clone, Copy)]
pub struct System {
    /// Its name.
    pub name: &'static str,
    /// What installs it.
    pub installer: &'static str,
}

/// The process. Dropped, it is told to end by the end of its input, and waited for.
#[derive(Debug)]
pub struct Peer {
    system: System,
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: PathBuf,
    statements: u64,
    /// Of which was told and nobody has asked.
    complete: Vec<u32>,
}

/// What the peer says, but for its failures.
#[derive(Debug)]
enum Message {
    /// It takes tasks; so many statements have been sent until now.
    Ready { statements: u64 },
    /// This task would not be lost any more.
    Accepted { task: u32 },
    /// This task's result is recorded; so many statements have been sent until now.
    Complete { task: u32, statements: u64 },
    /// A step that was done.
    Row(StepRow),
}

/// In a run's folder, what it is of.
const WORKLOAD: &str = "workload.json";

/// The run's folder: an empty one, or what a killed run of the same workload has left, where the
/// peer itself must go on.
///
/// # Errors
/// It is not there, or another workload has used it.
pub fn folder_to_go_on_in(workload: &Workload) -> Result<&Path, RunError> {
    let path = run_folder(workload)?;
    match fs::read_to_string(path.join(WORKLOAD)) {
        Ok(left) if left == written(workload) => Ok(path),
        Ok(_) => Err(RunError::setup(format!(
            "{} is the folder of another workload: give an empty folder",
            path.display()
        ))),
        Err(_) => empty_folder(workload),
    }
}

/// Writes into the run's folder what it is of.
///
/// # Errors
/// It cannot be written.
pub fn mark(workload: &Workload) -> Result<(), RunError> {
    let path = run_folder(workload)?.join(WORKLOAD);
    fs::write(path, written(workload)).map_err(RunError::setup)
}

/// What tasks there are and what their steps compute.
fn written(workload: &Workload) -> String {
    serde_json::to_string(&(workload.seed, &workload.shape, workload.tasks))
        .expect("numbers and a shape have only string keys")
}

/// The run's folder, which must be empty.
///
/// # Errors
/// It is not there, or an earlier run has used it.
pub fn empty_folder(workload: &Workload) -> Result<&Path, RunError> {
    let path = run_folder(workload)?;
    let mut left = path.read_dir().map_err(RunError::setup)?;
    if left.next().is_some() {
        return Err(RunError::setup(format!(
            "{} has what an earlier run left, with which this back end does not go on: give \
             an empty folder",
            path.display()
        )));
    }
    Ok(path)
}

impl Peer {
    /// Starts it in the run's folder, and waits until it takes tasks.
    ///
    /// # Errors
    /// It cannot be started, or fails; [`RunError::Unsupported`] where it says what is missing.
    pub fn start(system: System, mut command: Command, folder: &Path) -> Result<Self, RunError> {
        let log = folder.join("peer.log");
        let errors = File::create(&log).map_err(RunError::setup)?;
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let program = command.get_program().to_string_lossy().into_owned();
        let mut process = command.spawn().map_err(|error| {
            let System { name, installer } = system;
            RunError::setup(format!("cannot start {program} for {name}: {error}; see {installer}"))
        })?;
        let input = process.stdin.take();
        let output = process.stdout.take().expect("standard output is a pipe");
        let (sender, lines) = channel();
        spawn(move || forward(output, &sender));
        let complete = Vec::new();
        let mut peer = Self { system, process, input, lines, log, statements: 0, complete };
        match peer.next()? {
            Message::Ready { statements } => peer.statements = statements,
            other => return Err(peer.unasked(&other)),
        }
        Ok(peer)
    }

    /// As `BackEnd::submit`.
    ///
    /// # Errors
    /// The peer has failed, ended, or says nothing for a minute.
    pub fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        let line = |one: &Submission| format!("[{},{}]\n", one.task, one.input);
        let lines: String = tasks.iter().map(line).collect();
        let pipe = self.input.as_mut().expect("the input is open until the end");
        pipe.write_all(lines.as_bytes()).map_err(|_| self.ended())?;
        tasks.iter().map(|one| self.accepted(one)).collect()
    }

    /// It takes them over in order.
    fn accepted(&mut self, one: &Submission) -> Result<Accepted, RunError> {
        loop {
            match self.next()? {
                Message::Accepted { task } if task == one.task => {
                    let submitted_ns = one.submitted_ns;
                    return Ok(Accepted { submitted_ns, accepted_ns: now_ns() });
                }
                other => self.heard(&other)?,
            }
        }
    }

    /// As `BackEnd::wait`.
    ///
    /// # Errors
    /// The peer has failed, ended, or says nothing for a minute.
    pub fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        while self.complete.is_empty() {
            let message = self.next()?;
            self.heard(&message)?;
        }
        Ok(std::mem::take(&mut self.complete))
    }

    /// As `BackEnd::look`, at what the peer has told until now: it is not asked.
    ///
    /// # Errors
    /// The peer has failed or ended.
    pub fn look(&mut self) -> Result<Vec<u32>, RunError> {
        loop {
            match self.lines.try_recv() {
                Ok(line) => {
                    let message = self.message(&line)?;
                    self.heard(&message)?;
                }
                Err(TryRecvError::Empty) => return Ok(std::mem::take(&mut self.complete)),
                Err(TryRecvError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Statements that the system had sent when the last task was complete.
    pub fn statements(&self) -> u64 {
        self.statements
    }

    /// Ends its input, and reads the steps of all tasks until it has ended.
    ///
    /// # Errors
    /// It says something else, or does not come to an end.
    pub fn finish(mut self) -> Result<Vec<StepRow>, RunError> {
        self.input = None;
        let mut rows = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Disconnected) => return Ok(rows),
                Err(RecvTimeoutError::Timeout) => return Err(self.silent()),
                Ok(line) => match self.message(&line)? {
                    Message::Row(row) => rows.push(row),
                    other => return Err(self.unasked(&other)),
                },
            }
        }
    }

    fn next(&mut self) -> Result<Message, RunError> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => self.message(&line),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => Err(self.silent()),
        }
    }

    fn heard(&mut self, message: &Message) -> Result<(), RunError> {
        let Message::Complete { task, statements } = *message else {
            return Err(self.unasked(message));
        };
        self.complete.push(task);
        self.statements = statements;
        Ok(())
    }

    fn unasked(&self, message: &Message) -> RunError {
        RunError::failed(format!("{} said {message:?}, which nobody asked", self.system.name))
    }

    fn silent(&self) -> RunError {
        let (name, seconds) = (self.system.name, PATIENCE.as_secs());
        RunError::failed(format!("{name} says nothing for {seconds} s: {}", self.last_words()))
    }

    fn ended(&self) -> RunError {
        let name = self.system.name;
        RunError::failed(format!("the process of {name} has ended: {}", self.last_words()))
    }

    fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let words = log.lines().rev().find(|line| !line.trim().is_empty());
        words.unwrap_or("its log is empty").to_owned()
    }

    fn message(&self, line: &str) -> Result<Message, RunError> {
        let System { name, installer } = self.system;
        let unreadable = || RunError::failed(format!("the process of {name} said {line:?}"));
        let words: Vec<Value> = serde_json::from_str(line).map_err(|_| unreadable())?;
        let text = |index: usize| words.get(index).and_then(Value::as_str);
        let said = text(1).unwrap_or_default();
        let numbers: Option<Vec<i64>> = words.iter().skip(1).map(Value::as_i64).collect();
        match (text(0), numbers.as_deref()) {
            (Some("missing"), _) => Err(RunError::unsupported(format!(
                "there is no {name} where there should be: {said}; run {installer}"
            ))),
            (Some("failed"), _) => Err(RunError::failed(format!("{name} failed: {said}"))),
            (Some("ready"), Some(&[statements])) => {
                Ok(Message::Ready { statements: statements.unsigned_abs() })
            }
            (Some("accepted"), Some(&[task])) => Ok(Message::Accepted { task: task as u32 }),
            (Some("complete"), Some(&[task, statements])) => {
                Ok(Message::Complete { task: task as u32, statements: statements.unsigned_abs() })
            }
            (Some("row"), Some(numbers)) => row(numbers).map(Message::Row).ok_or_else(unreadable),
            _ => Err(unreadable()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        for _ in 0..LOOKS {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            sleep(LOOK);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Until the peer has ended, or nobody listens.
fn forward(output: ChildStdout, lines: &Sender<String>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if lines.send(line).is_err() {
            return;
        }
    }
}

/// Of the numbers in the order in which the script writes them.
fn row(numbers: &[i64]) -> Option<StepRow> {
    let &[task, step, part, ref times @ .., value, claims] = numbers else {
        return None;
    };
    let &[created, enqueued, claimed, started, finished, recorded] = times else {
        return None;
    };
    Some(StepRow {
        task: task as u32,
        step: step as u32,
        part: part as u32,
        created_ns: created,
        enqueued_ns: enqueued,
        claimed_ns: claimed,
        started_ns: started,
        finished_ns: finished,
        recorded_ns: recorded,
        value: value.unsigned_abs(),
        claims: claims as u32,
    })
}
