//! Two Ollama servers, brought up, asked after and ended: as programs of this machine, as
//! containers, or by the compose file.
//!
//! What was started is written down before it starts, so `down` ends it in any event, and nothing
//! else: the native way by the process ids that tools/ollama keeps, containers by names that no
//! other container has, the compose file by its project.

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

/// How servers can be brought up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum With {
    /// As programs of this machine, by tools/ollama.
    Native,
    /// As two containers of podman.
    Containers,
    /// By containers/compose.yaml.
    Compose,
}

/// What to bring up; and, written down, what was.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// In which way.
    pub with: With,
    /// Loopback ports, one a server.
    pub ports: [u16; 2],
    /// The model, as the servers are to know it.
    pub model: String,
    /// The image of the containers.
    pub image: String,
    /// A card a server, or none: servers on the CPU.
    pub cards: Option<[String; 2]>,
    /// The repository, which has the scripts and the compose file.
    pub root: PathBuf,
    /// Who made this, for names that no other container has.
    pub id: u32,
    /// The command that reads compose files here; found when it is needed.
    #[serde(default)]
    pub compose: Vec<String>,
}

/// How bringing up ended, where nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// Both servers answer and have the model.
    Up,
    /// The user stopped it, and what had been started is ended.
    Interrupted,
}

/// A wait for a server that was started: an image may have to be unpacked first.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// Between a polite end and a hard one.
const GRACE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

impl Pair {
    /// The servers' base addresses.
    pub fn servers(&self) -> Vec<String> {
        self.ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect()
    }

    /// Starts both servers, waits until they answer and brings the model; ends what it started when
    /// that fails or `interrupt` is raised.
    ///
    /// # Errors
    /// Servers that are up already, a port that is taken, a tool that is missing or fails.
    pub fn up(mut self, state: &Path, interrupt: &AtomicBool) -> Result<Raised, DriverError> {
        if state.exists() {
            return Err(input("servers are up already; end them with `lab servers down` first"));
        }
        for port in self.ports {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Err(input(&format!("port {port} is taken; choose others with --ports")));
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

    /// What is written down as brought up, if anything is.
    ///
    /// # Errors
    /// A file that cannot be read, or is from another version of the lab.
    pub fn recorded(state: &Path) -> Result<Option<Self>, DriverError> {
        let text = match fs::read_to_string(state) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DriverError::Lab(format!("{}: {error}", state.display()))),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            input(&format!("{} is not this lab's: {error}; see what it names", state.display()))
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

    /// Ends what `up` started. The record stays where that fails, so that it can be tried again.
    ///
    /// # Errors
    /// A tool that is missing or fails.
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

/// Runs a command to its end, with what it says on our standard error. It gets a process group of
/// its own, so that Ctrl-C reaches it through us and once.
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
                let what = "its own words are above";
                return Err(DriverError::Lab(format!("{name} ended with {status}; {what}")));
            }
            None if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) => {
                interrupt_group(&mut child);
                return Ok(Raised::Interrupted);
            }
            None => thread::sleep(POLL),
        }
    }
}

/// As Ctrl-C does it; whoever does not listen is killed.
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
            let what = format!("{server} does not answer {waited} s after its start");
            return Err(DriverError::Server(what));
        }
        thread::sleep(POLL);
    }
    Ok(Raised::Up)
}
