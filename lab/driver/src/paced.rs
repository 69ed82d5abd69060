//! The embedded paced server: a child process, configured and queried by lines of JSON.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use lab_family::ServedCall;
use lab_process::Beside;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{DriverError, pinning::Pinning};

/// The server answers a control line at once; this is for a machine under heavy load.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// A running server.
#[derive(Debug)]
pub(crate) struct PacedServer {
    child: Beside,
    control: ChildStdin,
    answers: mpsc::Receiver<String>,
    /// Base addresses, one per port.
    pub(crate) addresses: Vec<String>,
}

#[derive(Deserialize)]
struct Ledger {
    calls: Vec<ServedCall>,
}

impl PacedServer {
    /// Starts `lab sim` with as many ports as there are agents.
    pub(crate) fn start(lab: &Path, ports: usize, pinning: &Pinning) -> Result<Self, DriverError> {
        let ports = vec!["0"; ports].join(",");
        let mut command = Command::new(lab);
        command.args(["sim", "--ports", &ports, "--control", "stdin"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = Beside::start(&mut command, pinning.server())
            .map_err(|error| DriverError::Lab(format!("cannot start the paced server: {error}")))?;
        let control = child.stdin().expect("stdin is piped");
        let stdout = child.stdout().expect("stdout is piped");
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut server = Self { child, control, answers, addresses: Vec::new() };
        let hello = server.answer()?;
        let ports: Vec<u16> = serde_json::from_value(hello["ports"].clone()).map_err(|_| {
            DriverError::Lab(format!("the paced server started with {hello} instead of its ports"))
        })?;
        server.addresses = ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        Ok(server)
    }

    /// The server's process, for the accounting of CPU time.
    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Configures the server for the next run.
    pub(crate) fn begin(&mut self, run: &str, spec: &Value) -> Result<(), DriverError> {
        let answer = self.ask(&json!({ "begin": { "run": run, "server": spec } }))?;
        if answer["ready"] == run { Ok(()) } else { Err(unexpected(&answer)) }
    }

    /// What the server did in the run.
    pub(crate) fn collect(&mut self, run: &str) -> Result<Vec<ServedCall>, DriverError> {
        let mut answer = self.ask(&json!({ "collect": run }))?;
        let ledger: Ledger = serde_json::from_value(answer["ledger"].take())
            .map_err(|error| DriverError::Lab(format!("the paced server's ledger: {error}")))?;
        Ok(ledger.calls)
    }

    fn ask(&mut self, question: &Value) -> Result<Value, DriverError> {
        writeln!(self.control, "{question}")
            .and_then(|()| self.control.flush())
            .map_err(|error| DriverError::Lab(format!("the paced server has exited: {error}")))?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Value, DriverError> {
        let line = self.answers.recv_timeout(ANSWER_TIMEOUT).map_err(|_| {
            DriverError::Lab(
                "the paced server does not answer; continue the sweep with --resume".to_owned(),
            )
        })?;
        serde_json::from_str(&line).map_err(|_| unexpected(&json!(line)))
    }
}

fn unexpected(answer: &Value) -> DriverError {
    DriverError::Lab(format!("unexpected answer of the paced server: {answer}"))
}
