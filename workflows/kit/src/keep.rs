//! Servers that a variant's program keeps up over runs, as [`lab_protocol::kept`] says.

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use lab_protocol::{exit, kept};
use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use crate::RunError;

/// A server that a program can keep up.
#[derive(Debug, Clone, Copy)]
pub struct Keepable {
    /// As in `keep_up` of the variant's `variant.toml`.
    pub name: &'static str,
    /// Starts it in an empty folder; on return it takes sessions.
    pub start: fn(&Path) -> Result<Box<dyn Keeps>, RunError>,
}

/// A server that is up. Dropped, it ends.
pub trait Keeps {
    /// What a run must know of it, without a line's end.
    fn offer(&self) -> String;

    /// Its process, a child of this one.
    fn process(&self) -> u32;
}

/// What ends the wait of a program that keeps a server up.
enum End {
    /// Nobody wants it any more.
    Unwanted,
    /// The server has ended.
    Ended,
}

impl Keepable {
    /// What the lab offers of it to this run, if it does.
    pub fn offered(&self) -> Option<String> {
        env::var(kept::variable(self.name)).ok()
    }
}

/// Keeps up the one of these that the arguments name; `None` where they ask for something else.
pub fn keep_up(servers: &[Keepable]) -> Option<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [argument, name] = &arguments[..] else { return None };
    if argument != kept::ARGUMENT {
        return None;
    }
    let Some(server) = servers.iter().find(|server| server.name == name) else {
        let names: Vec<&str> = servers.iter().map(|server| server.name).collect();
        eprintln!("{name} cannot be kept up here; there are: {}", names.join(", "));
        return Some(ExitCode::from(exit::BAD_SPEC as u8));
    };
    let code = match keep(server) {
        Ok(()) => exit::DONE,
        Err(sentence) => {
            eprintln!("{sentence}");
            exit::FAILED
        }
    };
    Some(ExitCode::from(code as u8))
}

/// Until nobody wants it any more. The server is started and ended by the thread that called, for
/// it is told to end when the thread that started it has gone.
fn keep(server: &Keepable) -> Result<(), String> {
    let folder = env::current_dir().map_err(|error| format!("there is no folder: {error}"))?;
    let up = (server.start)(&folder).map_err(|error| error.to_string())?;
    let (sender, ends) = channel();
    let (process, died) = (up.process(), sender.clone());
    thread::spawn(move || wait_for(process, &died));
    thread::spawn(move || {
        // An error is an end, too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = sender.send(End::Unwanted);
    });
    let said = writeln!(io::stdout(), "{}", up.offer()).and_then(|()| io::stdout().flush());
    if said.is_err() {
        return Ok(());
    }
    match ends.recv() {
        Ok(End::Unwanted) | Err(_) => Ok(()),
        Ok(End::Ended) => Err(format!("{} has ended", server.name)),
    }
}

/// Leaves it to be waited for by whoever started it.
fn wait_for(process: u32, ends: &Sender<End>) {
    let process = Pid::from_raw(process.cast_signed());
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    while waitid(Id::Pid(process), flags) == Err(Errno::EINTR) {}
    let _ = ends.send(End::Ended);
}
