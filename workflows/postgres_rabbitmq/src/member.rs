//! Workers in processes of their own. Steps and ends go through the broker and the database alone;
//! by pipe a process is told its work, asked what it has counted, and told to end. One that is
//! killed loses nothing: the broker gives its message to another.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use workflows_database::Handle;
use workflows_kit::{Graph, RunError, StepId, Workload};

use crate::broker;
use crate::threads::Threads;
use crate::worker::Shared;

/// The only argument of such a process.
const ARGUMENT: &str = "--worker";
/// What it is told.
const COUNT: &str = "count";
const FINISH: &str = "finish";

/// Whether this process is one.
pub(crate) fn is_one() -> bool {
    std::env::args().skip(1).eq([ARGUMENT.to_owned()])
}

/// The whole of such a process's `main`.
pub(crate) fn process() -> ExitCode {
    let mut lines = io::stdin().lock().lines();
    let told = lines.next().and_then(Result::ok);
    let Some(told) = told.and_then(|line| serde_json::from_str::<Value>(&line).ok()) else {
        eprintln!("{ARGUMENT} is for the client of a cluster alone");
        return ExitCode::from(2);
    };
    match serve(&told, lines) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            failed(&error);
            ExitCode::FAILURE
        }
    }
}

fn serve(told: &Value, lines: impl Iterator<Item = io::Result<String>>) -> Result<(), RunError> {
    let workload: Workload = read(&told["workload"])?;
    let (port, password) = (read(&told["port"])?, read(&told["password"])?);
    let broker = broker::Handle::outside(port, password, read(&told["host"])?);
    let database = Handle::inside(Path::new(&workload.folder))?;
    let graph = Arc::new(Graph::new(&workload.shape));
    // For the rest of the process.
    let shared: &'static Shared = Box::leak(Box::default());
    let mut threads = Threads::new(shared);
    threads.start(&workload, &graph, &(database, broker), |error| {
        failed(error);
        std::process::exit(1);
    })?;
    say(&json!({ "ready": true }));
    for line in lines {
        match line.map_err(RunError::failed)?.as_str() {
            COUNT => say(&json!(shared.counts.numbers())),
            FINISH => {
                drop(threads);
                let known = shared.recorded_ns.lock().expect("the workers have ended");
                let steps =
                    known.iter().map(|((task, id), ns)| json!([task, id.step, id.part, ns]));
                say(&Value::Array(steps.collect()));
                return Ok(());
            }
            other => return Err(RunError::failed(format!("a worker was told {other:?}"))),
        }
    }
    // The client has gone, and perhaps the servers: nobody is waited for.
    std::process::exit(1)
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, RunError> {
    serde_json::from_value(value.clone()).map_err(RunError::failed)
}

fn failed(error: &RunError) {
    say(&json!({ "failed": error.to_string() }));
}

fn say(said: &Value) {
    let mut output = io::stdout().lock();
    // When the client has gone, so will this process.
    let _ = writeln!(output, "{said}").and_then(|()| output.flush());
}

/// A process with workers, as the client has it. Killed when dropped.
pub(crate) struct Member {
    child: Child,
    told: ChildStdin,
    said: BufReader<ChildStdout>,
    /// What it had counted when it was asked.
    counts: [u64; 4],
}

impl Member {
    /// Starts this program again, and waits until its workers are there.
    ///
    /// # Errors
    /// The system does not give a process, or it says why it cannot work.
    pub(crate) fn start(workload: &Workload, broker: &broker::Handle) -> Result<Self, RunError> {
        let program = std::env::current_exe().map_err(RunError::setup)?;
        let mut command = Command::new(program);
        command.arg(ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(RunError::setup)?;
        let told = child.stdin.take().expect("standard input is a pipe");
        let said = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut member = Self { child, told, said, counts: [0; 4] };
        let broker::Handle { port, password, host, .. } = broker;
        let first =
            json!({ "workload": workload, "port": port, "password": password, "host": host });
        match member.ask(&first.to_string()) {
            Some(answer) if answer.get("ready").is_some() => Ok(member),
            Some(answer) => Err(reason(&answer)),
            None => Err(RunError::failed("a worker process has ended before it was ready")),
        }
    }

    /// Whether it is still there.
    ///
    /// # Errors
    /// It has ended and said why. One that was killed says nothing, and others go on.
    pub(crate) fn lives(&mut self) -> Result<bool, RunError> {
        if matches!(self.child.try_wait(), Ok(None)) {
            return Ok(true);
        }
        match self.hear().filter(|said| said.get("failed").is_some()) {
            Some(said) => Err(reason(&said)),
            None => Ok(false),
        }
    }

    /// What it had counted when it was last asked.
    pub(crate) fn counted(&self) -> [u64; 4] {
        self.counts
    }

    /// What it has counted so far, in the order of `Counts::numbers`.
    pub(crate) fn counts(&mut self) -> [u64; 4] {
        let counted = self.ask(COUNT).and_then(|said| serde_json::from_value(said).ok());
        self.counts = counted.unwrap_or(self.counts);
        self.counts
    }

    /// Ends it in order, and takes when it knew of which step that it was recorded.
    pub(crate) fn finish(mut self) -> HashMap<(u32, StepId), i64> {
        let steps = self.ask(FINISH).and_then(|said| serde_json::from_value(said).ok());
        let steps: Vec<(u32, u32, u32, i64)> = steps.unwrap_or_default();
        let known = steps.into_iter();
        known.map(|(task, step, part, ns)| ((task, StepId { step, part }), ns)).collect()
    }

    /// One line for another; `None` when it has ended.
    fn ask(&mut self, line: &str) -> Option<Value> {
        self.told.write_all(format!("{line}\n").as_bytes()).ok()?;
        self.hear()
    }

    fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.said.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}

fn reason(said: &Value) -> RunError {
    RunError::failed(said["failed"].as_str().unwrap_or("a worker process does not understand"))
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
