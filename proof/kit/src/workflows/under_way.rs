//! A variant's program while it runs, and the processes below it.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lab_protocol::RunOutcome;
use lab_protocol::workflows::Workload;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use rustix::process;

use super::{Finished, Variant, gone, line};

/// No run of these tests takes a tenth of it.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A program that was started and has its spec. Dropped, it is killed.
#[derive(Debug)]
pub struct UnderWay {
    child: Child,
    started: Instant,
}

impl UnderWay {
    /// Starts a variant; with `file_blocks` no file may grow beyond that many blocks of 512 bytes.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(variant: &Variant, workload: &Workload, file_blocks: Option<u32>) -> Self {
        let mut command = Command::new("sh");
        let limit = file_blocks.map_or(String::new(), |blocks| format!("ulimit -f {blocks}; "));
        command.arg("-c").arg(format!("{limit}exec \"$0\"")).arg(&variant.program);
        for (name, value) in &variant.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a built program can be started");
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        stdin.write_all(line(workload).as_bytes()).expect("a variant reads its spec");
        Self { child, started: Instant::now() }
    }

    /// Waits until this is so; false when the program has ended before.
    ///
    /// # Panics
    /// When neither happens in time.
    pub fn until(&mut self, mut so: impl FnMut() -> bool) -> bool {
        loop {
            if so() {
                return true;
            }
            if self.child.try_wait().expect("a child can be waited for").is_some() {
                return false;
            }
            assert!(self.started.elapsed() < TIME_LIMIT, "nothing happens");
            sleep(Duration::from_millis(1));
        }
    }

    /// The processes that it has started with this as their only argument, by number.
    pub fn processes(&self, argument: &str) -> Vec<Pid> {
        let parent = self.child.id().cast_signed();
        children(parent, |line| {
            line.strip_suffix('\0').is_some_and(|line| line.ends_with(argument))
        })
    }

    /// Its connections with this port of the loopback interface.
    pub fn connections(&self, port: u16) -> Connections {
        let process = Pid::from_raw(self.child.id().cast_signed());
        Connections { process, sockets: sockets(process, port) }
    }

    /// Ends it at once.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Ends it and all that it has started at once, and waits until they are gone.
    ///
    /// # Panics
    /// When one lives on.
    pub fn kill_all(self) {
        let below = below(Pid::from_raw(self.child.id().cast_signed()));
        self.kill();
        for process in below {
            let _ = kill(process, Signal::SIGKILL);
            gone(process);
        }
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn finish(mut self) -> Finished {
        // An outcome may be longer than a pipe holds.
        let mut pipe = self.child.stdout.take().expect("standard output is a pipe");
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            pipe.read_to_string(&mut text).map(|_| text)
        });
        self.until(|| false);
        let status = self.child.wait().expect("a child can be waited for");
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().expect("standard error is a pipe");
        pipe.read_to_string(&mut stderr).expect("messages are text");
        let stdout = reader.join().expect("a reader does not panic").expect("an outcome is text");
        Finished { code: status.code(), stdout, stderr }
    }

    /// Waits for its end, and gives what it said.
    ///
    /// # Panics
    /// As [`Self::finish`], and when that is no outcome.
    pub fn outcome(self) -> RunOutcome {
        let finished = self.finish();
        let outcome = serde_json::from_str(&finished.stdout);
        outcome.unwrap_or_else(|error| panic!("{error}: {finished:?}"))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connections of a program that runs.
#[derive(Debug)]
pub struct Connections {
    process: Pid,
    /// By their numbers in that process.
    pub sockets: Vec<i32>,
}

impl Connections {
    /// Cuts one of them, which both its ends see; nothing happens where it is closed by now.
    ///
    /// # Errors
    /// The system does not let one process have another's connections.
    pub fn cut(&self, which: usize) -> io::Result<()> {
        let number = self.sockets[which % self.sockets.len()];
        let process = process::Pid::from_raw(self.process.as_raw());
        let process = process.expect("a process that was started has a number");
        let process = process::pidfd_open(process, process::PidfdFlags::empty())?;
        let socket = match process::pidfd_getfd(&process, number, process::PidfdGetfdFlags::empty())
        {
            Err(Errno::BADF) => return Ok(()),
            socket => socket?,
        };
        match shutdown(&socket, Shutdown::Both) {
            Err(Errno::NOTCONN | Errno::NOTSOCK) => Ok(()),
            ended => Ok(ended?),
        }
    }
}

/// The numbers of a process's sockets that are connected with this port of 127.0.0.1.
fn sockets(process: Pid, port: u16) -> Vec<i32> {
    // Address and port of the other end, and "established", as proc(5) has them.
    let end = format!("0100007F:{port:04X}");
    let table = fs::read_to_string(format!("/proc/{process}/net/tcp")).unwrap_or_default();
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let open =
        lines.filter(|cells| cells.get(2..4).is_some_and(|both| *both == [end.as_str(), "01"]));
    let names: Vec<String> =
        open.filter_map(|cells| Some(format!("socket:[{}]", cells.get(9)?))).collect();
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten();
    let mut found: Vec<i32> = files
        .filter_map(|file| {
            let file = file.ok()?;
            let name = fs::read_link(file.path()).ok()?;
            let is_one = names.iter().any(|socket| name.as_os_str() == socket.as_str());
            is_one.then(|| file.file_name().to_str()?.parse().ok())?
        })
        .collect();
    found.sort_unstable();
    found
}

/// A PostgreSQL server and the processes of its clients' sessions.
#[derive(Debug)]
pub struct Sessions {
    server: Pid,
    /// In the order of their numbers.
    pub sessions: Vec<Pid>,
}

impl Sessions {
    /// Ends the server at once.
    pub fn kill_server(&self) {
        let _ = kill(self.server, Signal::SIGKILL);
    }

    /// Sends a signal to one of the sessions.
    pub fn signal(&self, session: usize, signal: Signal) {
        let _ = kill(self.sessions[session % self.sessions.len()], signal);
    }
}

/// The server that runs on the data in a folder, with those sessions that wait or work.
pub fn sessions_of(folder: &Path) -> Option<Sessions> {
    let file = fs::read_to_string(folder.join("data/postmaster.pid")).ok()?;
    let server: i32 = file.lines().next()?.parse().ok()?;
    let sessions = children(server, |line| line.starts_with("postgres: lab "));
    Some(Sessions { server: Pid::from_raw(server), sessions })
}

/// A process's children, theirs, and so on.
pub(crate) fn below(process: Pid) -> Vec<Pid> {
    let mut found = children(process.as_raw(), |_| true);
    let mut place = 0;
    while let Some(process) = found.get(place) {
        found.extend(children(process.as_raw(), |_| true));
        place += 1;
    }
    found
}

/// The processes of this parent whose command line is so, in the order of their numbers.
pub(crate) fn children(parent: i32, so: impl Fn(&str) -> bool) -> Vec<Pid> {
    let parent = format!("PPid:\t{parent}");
    let is_one = |pid: &i32| {
        let read = |what: &str| fs::read_to_string(format!("/proc/{pid}/{what}"));
        read("status").is_ok_and(|status| status.lines().any(|line| line == parent))
            && read("cmdline").is_ok_and(|line| so(&line))
    };
    let numbers = fs::read_dir("/proc").into_iter().flatten();
    let mut found: Vec<i32> = numbers
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(is_one)
        .collect();
    found.sort_unstable();
    found.into_iter().map(Pid::from_raw).collect()
}
