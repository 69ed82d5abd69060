//! Starts, checks and stops two Ollama servers: as local programs, as containers, or from the
//! compose file.
//!
//! The servers are recorded before they start, so that `down` stops them, and no others, whatever
//! happened: local programs by the process ids that tools/ollama keeps, containers by unique names,
//! the compose file by its project.

mod steps;

use std::{
    fs, io,
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde::{Deserialize, Serialize};

use crate::{DriverError, given::answers};

/// How the servers are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum With {
    /// As local programs, by tools/ollama.
    Native,
    /// As two podman containers.
    Containers,
    /// From containers/compose.yaml.
    Compose,
}

/// The servers to start; as a record, the servers that were started.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// How to run them.
    pub with: With,
    /// Loopback ports, one per server.
    pub ports: [u16; 2],
    /// The model's name on the servers.
    pub model: String,
    /// The image of the containers.
    pub image: String,
    /// GPU index per server; `None` runs them on the CPU.
    pub cards: Option<[String; 2]>,
    /// The checkout with the scripts and the compose file.
    pub root: PathBuf,
    /// Process id of the creator, for unique container names.
    pub id: u32,
    /// The compose tool; found when it is needed.
    #[serde(default)]
    pub compose: Vec<String>,
}

/// How a start ended, if nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// Both servers answer and have the model.
    Up,
    /// The user interrupted it, and the servers are stopped.
    Interrupted,
}

/// Longest wait for a started server to answer: an image may have to be unpacked first.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// Between SIGINT and SIGKILL.
const GRACE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

impl Pair {
    /// The servers' base addresses.
    pub fn servers(&self) -> Vec<String> {
        self.ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect()
    }

    /// Starts both servers, waits until they answer and loads the model; stops them if that fails
    /// or `interrupt` is set.
    ///
    /// # Errors
    /// If servers are up already, a port is in use, or a tool is missing or fails.
    pub fn up(mut self, state: &Path, interrupt: &AtomicBool) -> Result<Raised, DriverError> {
        if state.exists() {
            return Err(input("servers are up already; stop them first with `lab servers down`"));
        }
        for port in self.ports {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Err(input(&format!("port {port} is in use; choose others with --ports")));
            }
        }
        if self.with == With::Compose {
            self.compose = steps::compose_tool()?;
        }
        write(state, &self)?;
        let raised = self.raise(interrupt);
        if matches!(raised, Ok(Raised::Up)) {
            return raised;
        }
        let ended = self.end(state);
        raised.and_then(|raised| ended.map(|()| raised))
    }

    fn raise(&self, interrupt: &AtomicBool) -> Result<Raised, DriverError> {
        for step in steps::start(self) {
            if finish(step, Some(interrupt))? == Raised::Interrupted {
                return Ok(Raised::Interrupted);
            }
        }
        for server in self.servers() {
            if wait_for(&server, interrupt)? == Raised::Interrupted {
                return Ok(Raised::Interrupted);
            }
        }
        for step in steps::bring_model(self) {
            if finish(step, Some(interrupt))? == Raised::Interrupted {
                return Ok(Raised::Interrupted);
            }
        }
        Ok(Raised::Up)
    }

    /// The recorded servers, if any.
    ///
    /// # Errors
    /// If the file cannot be read or is from another version of the lab.
    pub fn recorded(state: &Path) -> Result<Option<Self>, DriverError> {
        let text = match fs::read_to_string(state) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DriverError::Lab(format!("{}: {error}", state.display()))),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            input(&format!(
                "{} is unreadable: {error}; stop what it names, then delete it",
                state.display()
            ))
        })
    }

    /// Which servers answer, by address.
    pub fn status(&self) -> Vec<(String, bool)> {
        let ask = |server: String| {
            let up = answers(&server);
            (server, up)
        };
        self.servers().into_iter().map(ask).collect()
    }

    /// Stops the servers. The record stays if that fails, so that it can be tried again.
    ///
    /// # Errors
    /// If a tool is missing or fails.
    pub fn end(&self, state: &Path) -> Result<(), DriverError> {
        for step in steps::end(self) {
            finish(step, None)?;
        }
        fs::remove_file(state)
            .map_err(|error| DriverError::Lab(format!("{}: {error}", state.display())))
    }
}

fn input(sentence: &str) -> DriverError {
    DriverError::Input(sentence.to_owned())
}

fn write(state: &Path, pair: &Pair) -> Result<(), DriverError> {
    let text = serde_json::to_string(pair).expect("a pair is plain data");
    state
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(state, text))
        .map_err(|error| DriverError::Lab(format!("{}: {error}", state.display())))
}

/// Runs a command to its end, its output on our standard error. It gets its own process group, so
/// that Ctrl-C reaches it once, through us.
fn finish(mut command: Command, interrupt: Option<&AtomicBool>) -> Result<Raised, DriverError> {
    use std::os::{fd::AsFd, unix::process::CommandExt};
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot = |error: io::Error| DriverError::Lab(format!("cannot start {name}: {error}"));
    let output = io::stderr().as_fd().try_clone_to_owned().map_err(cannot)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::from(output))
        .process_group(0)
        .spawn()
        .map_err(cannot)?;
    loop {
        let status = child.try_wait().map_err(cannot)?;
        match status {
            Some(status) if status.success() => return Ok(Raised::Up),
            Some(status) => {
                let sentence = format!("{name} exited with {status}; its messages are above");
                return Err(DriverError::Lab(sentence));
            }
            None if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) => {
                interrupt_group(&mut child);
                return Ok(Raised::Interrupted);
            }
            None => thread::sleep(POLL),
        }
    }
}

/// Sends SIGINT to the group, then SIGKILL if it does not exit.
fn interrupt_group(child: &mut Child) {
    let group = Pid::from_raw(child.id().cast_signed());
    let _ = killpg(group, Signal::SIGINT);
    let end = Instant::now() + GRACE;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        thread::sleep(POLL);
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}

fn wait_for(server: &str, interrupt: &AtomicBool) -> Result<Raised, DriverError> {
    let end = Instant::now() + START_PATIENCE;
    while !answers(server) {
        if interrupt.load(Ordering::Relaxed) {
            return Ok(Raised::Interrupted);
        }
        if Instant::now() > end {
            let waited = START_PATIENCE.as_secs();
            let what = format!("{server} did not answer within {waited} s of its start");
            return Err(DriverError::Server(what));
        }
        thread::sleep(POLL);
    }
    Ok(Raised::Up)
}
