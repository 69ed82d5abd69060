//! A PostgreSQL server: of the run's own, which ends with it, or one that is kept up.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::Signal;
use postgres::{Client, Config, NoTls};
use workflows_kit::{Process, RunError};

use crate::kept::{self, Kept};
use crate::programs::Programs;

/// The data of a server of the run's own, in the run's folder.
pub(crate) const DATA: &str = "data";
/// Between two looks at a server that starts or ends.
const LOOK: Duration = Duration::from_millis(10);
/// A minute of these: after a crash the server first replays its log.
const LOOKS: u32 = 6_000;

/// A server. Dropped, one of the run's own is asked to end and waited for, and in one that is kept
/// up the run's database is dropped.
#[derive(Debug)]
pub struct Server {
    process: Process,
    config: Config,
    /// The socket is reached through this, for a socket's path has room for 107 bytes only.
    data: Arc<File>,
}

/// How a session is opened, and whether the server is still there.
#[derive(Debug, Clone)]
pub struct Handle {
    process: Process,
    /// The server was up before the run.
    is_kept: bool,
    config: Config,
    /// The socket is reached through this.
    _data: Arc<File>,
}

impl Server {
    /// Makes a database in the server that is kept up for this run, if there is one. Otherwise, or
    /// where the folder has data of an earlier run, it starts a server on the data in this folder,
    /// which it makes when there are none yet.
    ///
    /// # Errors
    /// There is no PostgreSQL, it does not start, and the message has its last words, or the one
    /// that is kept up is lost.
    pub fn start(run: &Path) -> Result<Self, RunError> {
        match Kept::of(run)? {
            Some(kept) => {
                kept.make_database()?;
                let (data, config) = kept.socket()?;
                Ok(Self { process: Process::Others(kept.process), config, data })
            }
            None => Self::own(run, &[]),
        }
    }

    /// Starts a server on the data in this folder, with these arguments. Everything that durability
    /// depends on is as PostgreSQL has it by default. It listens on a socket in a folder that is
    /// open to its own user alone.
    pub(crate) fn own(run: &Path, arguments: &[&str]) -> Result<Self, RunError> {
        let programs = Programs::find(run)?;
        let data = run.join(DATA);
        let log = run.join("postgres.log");
        if !data.is_dir() {
            make_cluster(&programs, &data, &log)?;
        }
        let (folder, config) = socket(&data)?;
        let mut last_words = String::new();
        for _ in 0..LOOKS / 10 {
            let another = data.join("postmaster.pid").exists();
            let mut command = programs.command("postgres");
            command.arg("-D").arg(&data).args(["-k", ".", "-p", "5432", "-c", "listen_addresses="]);
            let child = self::run(command.args(arguments), &log)?;
            let process = Process::of(child);
            let mut server = Self { process, config: config.clone(), data: Arc::clone(&folder) };
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
    /// may take as long as this process runs. The port is 5432, the user `lab`.
    pub fn socket_folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.data.as_raw_fd()))
    }

    /// The name of the run's database.
    pub fn database(&self) -> &str {
        self.config.get_dbname().expect("every configuration names one")
    }

    /// Its process, where it was up before the run.
    pub fn kept_process(&self) -> Option<u32> {
        self.process.kept()
    }

    /// Its process, where this one has started it.
    pub(crate) fn own_process(&self) -> Option<u32> {
        self.process.own()
    }

    /// For threads that open sessions.
    pub fn handle(&self) -> Handle {
        let (process, config) = (self.process.clone(), self.config.clone());
        let is_kept = process.kept().is_some();
        Handle { process, is_kept, config, _data: Arc::clone(&self.data) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.process.kept().is_some() {
            kept::drop_database(&self.config);
        }
        self.process.end(&[Signal::SIGINT, Signal::SIGQUIT, Signal::SIGKILL], LOOK * (LOOKS / 3));
    }
}

impl Handle {
    /// The handle to the server that another process of the run has started in this folder, or has
    /// found up.
    ///
    /// # Errors
    /// There are no data.
    pub fn inside(run: &Path) -> Result<Self, RunError> {
        let kept = Kept::of(run)?;
        let is_kept = kept.is_some();
        let own = || socket(&run.join(DATA));
        let (data, config) = kept.map_or_else(own, |kept| kept.socket())?;
        Ok(Self { process: Process::Unknown, is_kept, config, _data: data })
    }

    /// The handle to a server that is kept up on the data in a folder, for sessions in the database
    /// that every server has.
    ///
    /// # Errors
    /// There are no data.
    pub(crate) fn kept(process: u32, data: &Path) -> Result<Self, RunError> {
        let (data, config) = socket(data)?;
        Ok(Self { process: Process::Others(process), is_kept: true, config, _data: data })
    }

    /// Whether the server is still there, as far as this process can know.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&self) -> Result<(), RunError> {
        self.ended().map_or(Ok(()), |how| Err(self.database_is_lost(&how)))
    }

    /// A session. A server that restarts its processes, for one of them was killed, takes none for
    /// a moment.
    ///
    /// # Errors
    /// The server has ended, or takes no session for a minute.
    pub fn connect(&self) -> Result<Client, RunError> {
        self.open().map_err(|why| self.database_is_lost(&why))
    }

    /// The same, and otherwise only why there is none.
    pub(crate) fn open(&self) -> Result<Client, String> {
        let mut last = String::new();
        for _ in 0..LOOKS {
            match self.config.connect(NoTls) {
                Ok(client) => return Ok(client),
                Err(error) => last = said(&error),
            }
            if let Some(ended) = self.ended() {
                return Err(ended);
            }
            sleep(LOOK);
        }
        Err(last)
    }

    /// A failure of the run, with what helps then: in a server of the run's own all that was
    /// recorded stays in the run's folder. In one that is kept up it goes with the run.
    pub fn failed(&self, how: &str) -> RunError {
        if self.is_kept {
            return RunError::failed(how);
        }
        RunError::failed(format!(
            "{how}; when its cause is gone, start again with the same folder: whatever was \
             recorded is kept"
        ))
    }

    fn database_is_lost(&self, how: &str) -> RunError {
        self.failed(&format!("the database is lost: {how}"))
    }

    /// What an error of a statement means for the run, where nothing is asked again: the server has
    /// gone, or `refused` says what to do with its answer.
    pub(crate) fn meaning(
        &self,
        client: &Client,
        error: &postgres::Error,
        refused: fn(String) -> RunError,
    ) -> RunError {
        match lost(client, error) {
            true => self.database_is_lost(&said(error)),
            false => refused(said(error)),
        }
    }

    /// How the server ended, if it did.
    fn ended(&self) -> Option<String> {
        self.process.ended("the server")
    }
}

/// How the socket in a data folder is reached; as long as the folder is open.
pub(crate) fn socket(data: &Path) -> Result<(Arc<File>, Config), RunError> {
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
    let status = run(&mut command, log)?.wait().map_err(RunError::setup)?;
    if !status.success() {
        let log = fs::read_to_string(log).unwrap_or_default();
        let last = log.lines().last().unwrap_or_default().to_owned();
        return Err(RunError::setup(format!("initdb failed ({status}): {last}")));
    }
    fs::rename(&fresh, data).map_err(RunError::setup)
}

fn run(command: &mut Command, log: &Path) -> Result<Child, RunError> {
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
