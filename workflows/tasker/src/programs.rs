//! tasker's two processes, which end with this one.

use std::env;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use workflows_database::Server;
use workflows_kit::{RunError, Worker, Workload};
use workflows_peer::{OPERATIONS, Peer, System};

const TASKER: System = System { name: "tasker", installer: "tools/peer tasker up" };
/// In the folder that `tools/peer tasker up` fills.
const PROGRAM: &str = "tasker-host";
const PYTHON: &str = "python/bin/python";
const SCRIPT: &str = include_str!("worker.py");

/// They are told to end by the end of their input, and waited for.
pub(crate) struct Programs {
    worker: Peer,
    orchestrator: Peer,
    address: String,
}

impl Programs {
    /// Whether this folder has them, for this worker.
    pub(crate) fn are_in(installed: &Path, worker: Worker) -> bool {
        let has = |name| installed.join(name).exists();
        has(PROGRAM) && (worker == Worker::Native || has(PYTHON))
    }

    /// Writes their configuration into the run's folder, and starts them there. Both are ready on
    /// return. All that is not said here is as tasker's own types have it by default.
    ///
    /// # Errors
    /// They do not start, or say so.
    pub(crate) fn start(
        installed: &Path,
        run: &Path,
        server: &Server,
        template: &Value,
        workload: &Workload,
    ) -> Result<Self, RunError> {
        let program = installed.join(PROGRAM);
        let templates = run.join("templates");
        fs::create_dir(&templates).map_err(RunError::setup)?;
        // JSON is YAML too.
        fs::write(templates.join("lab.yaml"), template.to_string()).map_err(RunError::setup)?;
        let address = free_address()?;
        let workers = workload.workers.to_string();
        let arguments =
            ["configuration", &database(server), &address, &path(&templates)?, &workers];
        let configuration = run.join("tasker.toml");
        fs::write(&configuration, written(&program, &arguments)?).map_err(RunError::setup)?;
        let start = |role: &str, mut command: Command| {
            let folder = run.join(role);
            fs::create_dir(&folder).map_err(RunError::setup)?;
            // What would stand for parts of the configuration.
            let names = env::vars_os().map(|(name, _)| name);
            for name in names.filter(|name| name.to_string_lossy().starts_with("TASKER_")) {
                command.env_remove(name);
            }
            command.env("TASKER_CONFIG_PATH", &configuration);
            command.env("TASKER_TEMPLATE_PATH", &templates);
            Peer::start(TASKER, command, &folder)
        };
        let mut command = Command::new(&program);
        command.arg("orchestrator");
        let orchestrator = start("orchestrator", command)?;
        let worker = start("worker", worker(installed, workload))?;
        Ok(Self { worker, orchestrator, address })
    }

    /// Where the orchestrator listens, as host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether both are still there.
    ///
    /// # Errors
    /// One has ended, or said something.
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        self.orchestrator.look()?;
        self.worker.look().map(|_| ())
    }
}

/// tasker's worker in the workload's language. What the one in Python logs is limited as what the
/// one in Rust does.
fn worker(installed: &Path, workload: &Workload) -> Command {
    if workload.worker == Worker::Native {
        let mut command = Command::new(installed.join(PROGRAM));
        command.args(["worker", &workload.workers.to_string()]);
        return command;
    }
    let mut command = Command::new(installed.join(PYTHON));
    command.args(["-I", "-c", &format!("{OPERATIONS}{SCRIPT}")]).env("RUST_LOG", "warn");
    command
}

/// The server's socket as tasker's client takes it: a password must be there, and nobody asks for
/// it.
fn database(server: &Server) -> String {
    let (folder, name) = (server.socket_folder(), server.database());
    format!("postgresql://lab:none@localhost:5432/{name}?host={}", folder.display())
}

/// An address that was free a moment ago: tasker cannot be asked which it has taken.
fn free_address() -> Result<String, RunError> {
    let taken = TcpListener::bind("127.0.0.1:0").map_err(RunError::setup)?;
    taken.local_addr().map(|address| address.to_string()).map_err(RunError::setup)
}

fn path(path: &Path) -> Result<String, RunError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| RunError::setup(format!("{} is no text: give another", path.display())))
}

/// What the program writes.
fn written(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, RunError> {
    let mut command = Command::new(program);
    let output = command.args(arguments).stdin(Stdio::null()).output().map_err(RunError::setup)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        return Err(RunError::setup(format!("tasker gives no configuration: {said}")));
    }
    Ok(output.stdout)
}
