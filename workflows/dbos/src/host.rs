//! The Python process that has DBOS in it, and the lines that go to it and come back.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::Value;
use workflows_kit::{RunError, Shape, StepRow};

const SCRIPT: &str = include_str!("host.py");
/// Names a Python that has DBOS.
const PYTHON: &str = "LAB_DBOS_PYTHON";
/// No single answer takes a hundredth of it; a peer that hangs must not hang the lab.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a process that ends.
const LOOK: Duration = Duration::from_millis(10);
/// Ten seconds of these.
const LOOKS: u32 = 1_000;

/// What the peer says, but for its failures.
#[derive(Debug)]
pub(crate) enum Message {
    /// It takes tasks; so many statements have been sent until now.
    Ready { statements: u64 },
    /// This task would not be lost any more.
    Accepted { task: u32 },
    /// This task's result is recorded; so many statements have been sent until now.
    Complete { task: u32, statements: u64 },
    /// A step that was done.
    Row(StepRow),
}

/// The peer's process. Dropped, it is told to end by the end of its input, and waited for.
#[derive(Debug)]
pub(crate) struct Host {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: PathBuf,
}

/// The Python to run.
///
/// # Errors
/// None is named.
pub(crate) fn python() -> Result<OsString, RunError> {
    env::var_os(PYTHON).ok_or_else(missing)
}

fn missing() -> RunError {
    RunError::unsupported(format!(
        "there is no Python with DBOS: tools/dbos/up makes one, and prints what to put into \
         {PYTHON}"
    ))
}

impl Host {
    /// Starts it; its first message comes when DBOS has made its tables.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(
        python: &OsString,
        folder: &Path,
        database: &str,
        shape: &Shape,
        workers: u32,
    ) -> Result<Self, RunError> {
        let shape = serde_json::to_string(shape).expect("a shape has only string keys");
        let log = folder.join("dbos.log");
        let errors = File::create(&log).map_err(RunError::setup)?;
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT, database, &shape, &workers.to_string()]);
        // What would make DBOS call somebody outside, or stand for its configuration.
        let theirs = env::vars_os().map(|(name, _)| name);
        for name in theirs.filter(|name| name.to_string_lossy().starts_with("DBOS_")) {
            command.env_remove(name);
        }
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut process = command.spawn().map_err(|error| {
            RunError::setup(format!("cannot start {} of {PYTHON}: {error}", python.display()))
        })?;
        let input = process.stdin.take();
        let output = process.stdout.take().expect("standard output is a pipe");
        let (sender, lines) = channel();
        spawn(move || forward(output, &sender));
        Ok(Self { process, input, lines, log })
    }

    /// Hands a task in.
    ///
    /// # Errors
    /// The peer has ended.
    pub(crate) fn hand_in(&mut self, task: u32, input: u64) -> Result<(), RunError> {
        let line = format!("[{task},{input}]\n");
        let pipe = self.input.as_mut().expect("the input is open until the end");
        pipe.write_all(line.as_bytes()).map_err(|_| self.ended())
    }

    /// Waits for what it says next.
    ///
    /// # Errors
    /// It has failed, ended, or says nothing for a minute.
    pub(crate) fn next(&mut self) -> Result<Message, RunError> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => message(&line),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => Err(RunError::failed(format!(
                "DBOS has said nothing for {} s: {}",
                PATIENCE.as_secs(),
                self.last_words()
            ))),
        }
    }

    /// What it has said, if anything.
    ///
    /// # Errors
    /// It has failed or ended.
    pub(crate) fn told(&mut self) -> Result<Option<Message>, RunError> {
        match self.lines.try_recv() {
            Ok(line) => message(&line).map(Some),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(self.ended()),
        }
    }

    /// Ends its input, and reads the steps of all tasks until it has ended.
    ///
    /// # Errors
    /// It says something else, or does not come to an end.
    pub(crate) fn finish(mut self) -> Result<Vec<StepRow>, RunError> {
        self.input = None;
        let mut rows = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Disconnected) => return Ok(rows),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(RunError::failed("DBOS does not end when its input has"));
                }
                Ok(line) => match message(&line)? {
                    Message::Row(row) => rows.push(row),
                    other => return Err(RunError::failed(format!("DBOS ends with {other:?}"))),
                },
            }
        }
    }

    fn ended(&self) -> RunError {
        RunError::failed(format!("the process of DBOS has ended: {}", self.last_words()))
    }

    fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let words = log.lines().rev().find(|line| !line.trim().is_empty());
        words.unwrap_or("its log is empty").to_owned()
    }
}

impl Drop for Host {
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

fn message(line: &str) -> Result<Message, RunError> {
    let unreadable = || RunError::failed(format!("the process of DBOS said {line:?}"));
    let words: Vec<Value> = serde_json::from_str(line).map_err(|_| unreadable())?;
    let text = |index: usize| words.get(index).and_then(Value::as_str);
    let said = || text(1).unwrap_or_default().to_owned();
    let numbers: Option<Vec<i64>> = words.iter().skip(1).map(Value::as_i64).collect();
    match (text(0), numbers.as_deref()) {
        (Some("missing"), _) => Err(missing_module(&said())),
        (Some("failed"), _) => Err(RunError::failed(format!("DBOS failed: {}", said()))),
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

fn missing_module(said: &str) -> RunError {
    RunError::unsupported(format!(
        "there is no DBOS in the Python of {PYTHON}: {said}; run tools/dbos/up"
    ))
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
