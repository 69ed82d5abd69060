//! A RabbitMQ broker: of the run's own, which ends with it, or one that is kept up
//! ([`crate::kept`]).
//!
//! Its data, configuration and log are in the run's folder, and it listens on the loopback
//! interface alone. As an Erlang node it takes no connections of other nodes, so that it needs no
//! port mapper (epmd), which would be a second server and outlive the run.

use std::fs::{self, File};
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::Signal;
use workflows_kit::{Process, RunError};

use crate::kept::{self, Kept};

/// Where Debian has the program itself. The one on PATH is a wrapper that changes the user.
const DEBIAN: &str = "/usr/lib/rabbitmq/bin";
const PROGRAM: &str = "rabbitmq-server";

/// The port mapper is neither started nor asked, and the node listens to no other. RabbitMQ wants
/// to be told a port nevertheless.
const ALONE: &str = "-start_epmd false -dist_listen false -erl_epmd_port 1 -name lab@localhost";

/// Its data, in the run's folder.
const FOLDER: &str = "broker";
/// Between two looks at a broker that starts or ends.
const LOOK: Duration = Duration::from_millis(10);
/// A minute of these.
const LOOKS: u32 = 6_000;
/// How often another port is tried, for somebody may take one between its choice and its use.
const PORTS: u32 = 5;

/// A broker. Dropped, one of the run's own is asked to end and waited for, and in one that is kept
/// up the run's virtual host is deleted.
#[derive(Debug)]
pub(crate) struct Broker {
    handle: Handle,
    /// The port where virtual hosts are made and deleted, where this process has started it for
    /// that.
    administration: Option<u16>,
    /// Where another process keeps it up.
    kept: Option<Kept>,
}

/// How a connection is opened, and whether the broker is still there.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    process: Process,
    pub(crate) port: u16,
    pub(crate) password: String,
    pub(crate) host: String,
}

/// The virtual host that every broker has.
const HOST: &str = "/";

impl Broker {
    /// Makes a virtual host in the broker that is kept up for this run, if there is one. Otherwise,
    /// or where the run's folder has data of an earlier run, it starts one on these.
    ///
    /// # Errors
    /// As [`Self::own`], or the one that is kept up is lost.
    pub(crate) fn start(run: &Path) -> Result<Self, RunError> {
        match Kept::offered()?.filter(|_| !run.join(FOLDER).is_dir()) {
            Some(kept) => {
                kept.make_host()?;
                let handle = Handle {
                    process: Process::Others(kept.process),
                    port: kept.port,
                    password: kept.password.clone(),
                    host: kept::HOST.to_owned(),
                };
                Ok(Self { handle, administration: None, kept: Some(kept) })
            }
            None => Self::own(run, false),
        }
    }

    /// Starts a broker on the data in this folder, where there are some, and waits until it takes
    /// connections; for runs to come with another port, where virtual hosts are made and deleted.
    ///
    /// # Errors
    /// [`RunError::Unsupported`], saying what to install; otherwise it does not start, and the
    /// message has its last words.
    pub(crate) fn own(run: &Path, is_for_runs: bool) -> Result<Self, RunError> {
        let program = find()?;
        let folder = run.join(FOLDER);
        fs::create_dir_all(&folder).map_err(RunError::setup)?;
        let password = password(&folder.join("password")).map_err(RunError::setup)?;
        let mut last_words = String::new();
        for _ in 0..PORTS {
            let log = run.join("rabbitmq.log");
            let administration = is_for_runs.then(free_port).transpose()?;
            let broker = Self::spawn(&program, &log, &folder, (password.as_str(), administration))?;
            match broker.handle.ready(&log) {
                Ok(()) => return Ok(broker),
                Err(words) => last_words = words,
            }
            let log = fs::read_to_string(&log).unwrap_or_default();
            let error = log.lines().rev().find(|line| line.contains("[error]"));
            last_words = format!("{last_words}; {}", error.unwrap_or_default());
            if !log.contains("eaddrinuse") {
                break;
            }
        }
        Err(RunError::setup(format!("RabbitMQ does not start: {last_words}")))
    }

    fn spawn(
        program: &Path,
        log: &Path,
        folder: &Path,
        (password, administration): (&str, Option<u16>),
    ) -> Result<Self, RunError> {
        let port = free_port()?;
        configure(folder, port, password, administration).map_err(RunError::setup)?;
        let file = File::create(log).map_err(RunError::setup)?;
        let copy = file.try_clone().map_err(RunError::setup)?;
        let mut command = command(program, folder);
        let child = command.stdout(Stdio::from(copy)).stderr(Stdio::from(file)).spawn();
        let child = child.map_err(|error| {
            RunError::setup(format!("cannot start setpriv: {error}; install Debian's util-linux"))
        })?;
        let process = Process::of(child);
        let (password, host) = (password.to_owned(), HOST.to_owned());
        let handle = Handle { process, port, password, host };
        Ok(Self { handle, administration, kept: None })
    }

    /// The port where virtual hosts are made and deleted, where this process has started it for
    /// that.
    pub(crate) fn administration(&self) -> Option<u16> {
        self.administration
    }

    /// Its process, where this one has started it.
    pub(crate) fn own_process(&self) -> Option<u32> {
        self.handle.process.own()
    }

    /// Its process, where it was up before the run.
    pub(crate) fn kept_process(&self) -> Option<u32> {
        self.handle.process.kept()
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if let Some(kept) = &self.kept {
            kept.delete_host();
        }
        self.handle.process.end(&[Signal::SIGTERM, Signal::SIGKILL], LOOK * (LOOKS / 6));
    }
}

impl Handle {
    /// The handle to a broker that another process of the run has started, or has found up.
    pub(crate) fn outside(port: u16, password: String, host: String) -> Self {
        Self { process: Process::Unknown, port, password, host }
    }

    /// How the broker ended, if it did and this process can know.
    pub(crate) fn ended(&self) -> Option<String> {
        self.process.ended("the broker")
    }

    /// Waits until it listens, which is the last that it does when it starts.
    fn ready(&self, log: &Path) -> Result<(), String> {
        for _ in 0..LOOKS {
            if let Some(ended) = self.ended() {
                return Err(ended);
            }
            let log = fs::read_to_string(log).unwrap_or_default();
            if log.contains("Server startup complete") {
                return Ok(());
            }
            sleep(LOOK);
        }
        Err("it takes no connections after a minute".to_owned())
    }
}

/// Free a moment ago.
fn free_port() -> Result<u16, RunError> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|taken| taken.local_addr());
    free.map(|address| address.port()).map_err(RunError::setup)
}

fn find() -> Result<PathBuf, RunError> {
    let said = std::env::var_os("LAB_RABBITMQ_BIN").map(PathBuf::from);
    let places = said.into_iter().chain([PathBuf::from(DEBIAN)]);
    let mut programs = places.map(|folder| folder.join(PROGRAM));
    programs.find(|program| program.is_file()).ok_or_else(|| {
        RunError::unsupported(
            "there is no RabbitMQ broker: install Debian's package rabbitmq-server, or name the \
             folder of rabbitmq-server in LAB_RABBITMQ_BIN",
        )
    })
}

/// Made once, for the broker keeps it with its data. A connection that reached another broker, on
/// a port that this one wanted, would be refused there.
fn password(file: &Path) -> std::io::Result<String> {
    if let Ok(password) = fs::read_to_string(file)
        && !password.is_empty()
    {
        return Ok(password);
    }
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(file, &password)?;
    Ok(password)
}

fn configure(
    folder: &Path,
    port: u16,
    password: &str,
    administration: Option<u16>,
) -> std::io::Result<()> {
    // Threads that use a connection are not always there to answer a heartbeat; whether the broker
    // lives is known from its process.
    let config = format!(
        "listeners.tcp.1 = 127.0.0.1:{port}\nheartbeat = {HEARTBEAT_S}\ndefault_user = lab\n\
         default_pass = {password}\nlog.file = false\nlog.console = true\n\
         log.console.level = info\nlog.console.use_colors = off\n"
    );
    // It collects nothing while messages go through.
    let management = |port| {
        format!(
            "management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {port}\n\
             management_agent.disable_metrics_collector = true\n"
        )
    };
    let plugins = if administration.is_some() { "[rabbitmq_management].\n" } else { "[].\n" };
    let config = config + &administration.map_or(String::new(), management);
    fs::write(folder.join("rabbitmq.conf"), config)?;
    fs::write(folder.join("advanced.config"), "[].\n")?;
    fs::write(folder.join("enabled_plugins"), plugins)?;
    // Names are looked up here and not by a helper process that would outlive a killed broker.
    let names = "{lookup, [file]}.\n{host, {127,0,0,1}, [\"localhost\"]}.\n";
    fs::write(folder.join("inetrc"), names)
}

/// Between two signs of life on an idle connection, in seconds.
pub(crate) const HEARTBEAT_S: u16 = 600;

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(program).stdin(Stdio::null()).current_dir(folder);
    // With this the script becomes the broker, so that the process that is started is the broker.
    command.env("RUNNING_UNDER_SYSTEMD", "true").env_remove("NOTIFY_SOCKET");
    command.env("HOME", folder).env("ERL_INETRC", folder.join("inetrc"));
    command.env("RABBITMQ_NODENAME", "lab@localhost");
    command.env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", ALONE);
    for (name, file) in [
        // None of these is the machine's.
        ("CONF_ENV_FILE", "rabbitmq-env.conf"),
        ("CONFIG_FILE", "rabbitmq.conf"),
        ("CONFIG_FILES", "conf.d"),
        ("ADVANCED_CONFIG_FILE", "advanced.config"),
        ("ENABLED_PLUGINS_FILE", "enabled_plugins"),
        ("GENERATED_CONFIG_DIR", "config"),
        ("MNESIA_BASE", "node"),
        ("LOG_BASE", "log"),
        ("PID_FILE", "pid"),
    ] {
        command.env(format!("RABBITMQ_{name}"), folder.join(file));
    }
    command
}
