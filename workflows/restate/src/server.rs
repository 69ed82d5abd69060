//! A Restate server of the run's own, which ends with it.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workflows_kit::RunError;

/// Between two looks at a process that ends.
const LOOK: Duration = Duration::from_millis(10);
/// Ten seconds of these.
const LOOKS: u32 = 1_000;

/// The server's process. Dropped, it is asked to end and waited for.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    /// Where calls of the handler go, as host and port.
    pub(crate) ingress: String,
    /// Where the handler is made known, as host and port.
    pub(crate) administration: String,
}

impl Server {
    /// Starts it on the run's folder, with ports of the loopback address alone. Everything that
    /// durability depends on is as Restate has it by default. `None` where it is not installed.
    ///
    /// # Errors
    /// There are no ports, or it cannot be started.
    pub(crate) fn start(packages: &Path, run: &Path) -> Result<Option<Self>, RunError> {
        let program = packages.join(program());
        if !program.is_file() {
            return Ok(None);
        }
        let [ingress, administration, node] = ports()?;
        let log = File::create(run.join("restate.log")).map_err(RunError::setup)?;
        let copy = log.try_clone().map_err(RunError::setup)?;
        // Told to end when this process has gone, however that went.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(program).arg("--base-dir").arg(run.join("data"));
        command.env("RESTATE_INGRESS__BIND_ADDRESS", &ingress);
        command.env("RESTATE_ADMIN__BIND_ADDRESS", &administration);
        command.env("RESTATE_BIND_ADDRESS", &node);
        command.env("RESTATE_ADVERTISED_ADDRESS", format!("http://{node}"));
        command.env("RESTATE_DISABLE_TELEMETRY", "true");
        command.stdin(Stdio::null()).stdout(log).stderr(copy).current_dir(run);
        let process = command.spawn().map_err(|error| {
            RunError::setup(format!("cannot start setpriv: {error}; install Debian's util-linux"))
        })?;
        Ok(Some(Self { process, ingress, administration }))
    }
}

/// Where npm puts the program, below the folder that it installs into.
fn program() -> String {
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("node_modules/@restatedev/restate-server-linux-{processor}/bin/restate-server")
}

/// Three addresses that were free a moment ago: the server cannot be asked which it has taken.
fn ports() -> Result<[String; 3], RunError> {
    let mut taken = Vec::new();
    for _ in 0..3 {
        taken.push(TcpListener::bind("127.0.0.1:0").map_err(RunError::setup)?);
    }
    let address = |index: usize| taken[index].local_addr().map_err(RunError::setup);
    Ok([address(0)?.to_string(), address(1)?.to_string(), address(2)?.to_string()])
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.process.id().cast_signed());
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            // The process is ours and not waited for, so the number is still its own.
            let _ = kill(pid, signal);
            for _ in 0..LOOKS {
                if !matches!(self.process.try_wait(), Ok(None)) {
                    return;
                }
                sleep(LOOK);
            }
        }
    }
}
