//! A PostgreSQL server of the run's own, which ends with it.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use postgres::{Client, Config, NoTls};
use workflows_kit::RunError;

use crate::programs::Programs;

/// Between two looks at a server that starts or ends.
const LOOK: Duration = Duration::from_millis(10);
/// A minute of these: after a crash the server first replays its log.
const LOOKS: u32 = 6_000;

/// The server's process. Dropped, it is asked to end and waited for.
#[derive(Debug)]
pub struct Server {
    process: Arc<Mutex<Child>>,
    config: Config,
    /// The socket is reached through this, for a socket's path has room for 107 bytes only.
    data: Arc<File>,
}

/// How a session is opened, and whether the server is still there.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Known to the process that started it.
    process: Option<Arc<Mutex<Child>>>,
    config: Config,
    /// The socket is reached through this.
    _data: Arc<File>,
}

impl Server {
    /// Starts a server on the data in this folder, which it makes when there are none yet.
    /// Everything that durability depends on is as PostgreSQL has it by default. It listens on a
    /// socket in a folder that is open to its own user alone.
    ///
    /// # Errors
    /// There is no PostgreSQL, or it does not start; the message has its last words.
    pub fn start(run: &Path) -> Result<Self, RunError> {
        let programs = Programs::find(run)?;
        let data = run.join("data");
        let log = run.join("postgres.log");
        if !data.is_dir() {
            make_cluster(&programs, &data, &log)?;
        }
        let (folder, config) = socket(&data)?;
        let mut last_words = String::new();
        for _ in 0..LOOKS / 10 {
            let another = data.join("postmaster.pid").exists();
            let mut server = Self::spawn(&programs, &data, &log, &config, &folder)?;
            match server.ready() {
                Ok(()) => return Ok(server),
                Err(words) => last_words = words,
            }
            // A server whose starter was killed, or its processes if it was, live on for a moment.
            if !another {
                break;
            }
            sleep(LOOK * 10);
        }
        let log = fs::read_to_string(&log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(2).collect();
        Err(RunError::setup(format!(
            "PostgreSQL does not start: {last_words}; {}",
            lines.join("; ")
        )))
    }

    fn spawn(
        programs: &Programs,
        data: &Path,
        log: &Path,
        config: &Config,
        folder: &Arc<File>,
    ) -> Result<Self, RunError> {
        let mut command = programs.command("postgres");
        command.arg("-D").arg(data).args(["-k", ".", "-p", "5432", "-c", "listen_addresses="]);
        let child = run(command, log)?;
        let process = Arc::new(Mutex::new(child));
        Ok(Self { process, config: config.clone(), data: Arc::clone(folder) })
    }

    /// Waits until it takes sessions.
    fn ready(&mut self) -> Result<(), String> {
        let handle = self.handle();
        let mut last = String::new();
        for _ in 0..LOOKS {
            match self.config.connect(NoTls) {
                Ok(_) => return Ok(()),
                Err(error) => last = said(&error),
            }
            if let Some(ended) = handle.ended() {
                return Err(ended);
            }
            sleep(LOOK);
        }
        Err(last)
    }

    /// The folder of its socket, under a name that is short and that other processes of this user
    /// may take as long as this process runs. The port is 5432, the user `lab`, the database
    /// `postgres`.
    pub fn socket_folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.data.as_raw_fd()))
    }

    /// For threads that open sessions.
    pub fn handle(&self) -> Handle {
        let process = Some(Arc::clone(&self.process));
        Handle { process, config: self.config.clone(), _data: Arc::clone(&self.data) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut process = self.process.lock().expect("nobody panics while it holds the server");
        let pid = Pid::from_raw(process.id().cast_signed());
        for signal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGKILL] {
            if !matches!(process.try_wait(), Ok(None)) {
                return;
            }
            // The process is ours and not waited for, so the number is still its own.
            let _ = kill(pid, signal);
            for _ in 0..LOOKS / 3 {
                if !matches!(process.try_wait(), Ok(None)) {
                    return;
                }
                sleep(LOOK);
            }
        }
    }
}

impl Handle {
    /// The handle to the server that another process has started on the data in this folder.
    ///
    /// # Errors
    /// There are no data.
    pub fn inside(run: &Path) -> Result<Self, RunError> {
        let (data, config) = socket(&run.join("data"))?;
        Ok(Self { process: None, config, _data: data })
    }

    /// Whether the server that this process has started is still there.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&self) -> Result<(), RunError> {
        self.ended().map_or(Ok(()), |how| Err(database_is_lost(&how)))
    }

    /// A session. A server that restarts its processes, for one of them was killed, takes none for
    /// a moment.
    ///
    /// # Errors
    /// The server has ended, or takes no session for a minute.
    pub fn connect(&self) -> Result<Client, RunError> {
        let mut last = String::new();
        for _ in 0..LOOKS {
            match self.config.connect(NoTls) {
                Ok(client) => return Ok(client),
                Err(error) => last = said(&error),
            }
            if let Some(ended) = self.ended() {
                last = ended;
                break;
            }
            sleep(LOOK);
        }
        Err(database_is_lost(&last))
    }

    /// How the server ended, if it did.
    fn ended(&self) -> Option<String> {
        let process = self.process.as_ref()?;
        let mut process = process.lock().expect("nobody panics while it holds the server");
        let status = process.try_wait().ok().flatten()?;
        Some(format!("the server has ended ({status})"))
    }
}

fn database_is_lost(how: &str) -> RunError {
    RunError::failed(format!(
        "the database is lost: {how}; start again with the same folder: whatever was recorded is \
         kept"
    ))
}

/// How the socket in a data folder is reached; as long as the folder is open.
fn socket(data: &Path) -> Result<(Arc<File>, Config), RunError> {
    let folder = Arc::new(File::open(data).map_err(RunError::setup)?);
    let mut config = Config::new();
    config
        .host_path(format!("/proc/self/fd/{}", folder.as_raw_fd()))
        .user("lab")
        .dbname("postgres")
        .connect_timeout(Duration::from_secs(10));
    Ok((folder, config))
}

/// In another folder first: a cluster that was not finished must not look like one.
fn make_cluster(programs: &Programs, data: &Path, log: &Path) -> Result<(), RunError> {
    let fresh: PathBuf = data.with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let mut command = programs.command("initdb");
    command.arg("-D").arg(&fresh).args(["-U", "lab", "-A", "trust", "-E", "UTF8", "--no-locale"]);
    let status = run(command, log)?.wait().map_err(RunError::setup)?;
    if !status.success() {
        let log = fs::read_to_string(log).unwrap_or_default();
        let last = log.lines().last().unwrap_or_default().to_owned();
        return Err(RunError::setup(format!("initdb failed ({status}): {last}")));
    }
    fs::rename(&fresh, data).map_err(RunError::setup)
}

fn run(mut command: std::process::Command, log: &Path) -> Result<Child, RunError> {
    let mut options = File::options();
    let log = options.append(true).create(true).open(log).map_err(RunError::setup)?;
    let copy = log.try_clone().map_err(RunError::setup)?;
    command.stdout(Stdio::from(copy)).stderr(Stdio::from(log));
    let what = command.get_program().to_string_lossy().into_owned();
    command.spawn().map_err(|error| {
        RunError::setup(format!("cannot start {what}: {error}; install Debian's util-linux"))
    })
}

/// With what the server said, which the client's own message leaves out.
pub fn said(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => match said.detail() {
            Some(detail) => format!("{}: {detail}", said.message()),
            None => said.message().to_owned(),
        },
        None => error.to_string(),
    }
}

/// The socket is gone, or the server says so: class 57P is "operator intervention", which is a
/// session that an administrator or another's crash ended, or that a starting or ending server does
/// not take.
pub fn lost(client: &Client, error: &postgres::Error) -> bool {
    let code = error.code().map(|code| code.code());
    let source = std::error::Error::source(error);
    client.is_closed()
        || error.is_closed()
        || source.is_some_and(|source| source.is::<std::io::Error>())
        || code.is_some_and(|code| code.starts_with("57P"))
}
