//! Servers that are kept up over the runs of a sweep, for variants whose manifests name them: see
//! [`lab_protocol::kept`].
//!
//! One is started when a run first needs it, by the program of that run's variant; whoever names it
//! later is offered the same, so that both halves of a pair find a server of one age. One that has
//! ended is started anew, in another folder. One that cannot be started is not tried again: then
//! each run starts its own, and a person is told.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use lab_process::Beside;
use lab_protocol::kept;
use lab_record::Kept;
use serde_json::{Value, json};

use crate::{Program, words::harmless};

/// A server of ours takes seconds to start, and a few more where the machine is busy.
const START: Duration = Duration::from_secs(90);
/// And to end; then it is killed with all that it started.
const END: Duration = Duration::from_secs(30);
/// Between two looks at the interrupt flag while a server starts.
const LOOK: Duration = Duration::from_millis(20);
/// A line that is longer is none.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// The servers of a sweep. Dropped, all are ended.
#[derive(Debug)]
pub(crate) struct KeptServers {
    /// A folder for each, on the disk that is measured.
    folder: PathBuf,
    servers: BTreeMap<String, Server>,
}

/// A server by its name.
#[derive(Debug, Default)]
struct Server {
    starts: u32,
    runs: u32,
    keeper: Option<Keeper>,
    /// Why it cannot be kept up.
    refused: Option<String>,
}

/// The process that has the server. Dropped, it is told to end it, and waited for.
#[derive(Debug)]
struct Keeper {
    child: Beside,
    input: Option<ChildStdin>,
    /// What a run is told.
    offer: String,
    runs: u32,
}

/// What a run is offered.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    /// Of its environment.
    pub(crate) variables: Vec<(String, String)>,
    /// A sentence for each server that from now on cannot be kept up.
    pub(crate) notes: Vec<String>,
    servers: BTreeMap<String, Found>,
    /// Servers that are up and not for this run.
    others: Vec<Before>,
}

#[derive(Debug)]
struct Found {
    before: Before,
    start: u32,
    runs_before: u32,
}

/// The process that has a server, and the CPU time of all its processes before the run.
#[derive(Debug)]
struct Before {
    pid: u32,
    cpu_ns: u64,
}

impl Before {
    /// CPU time since then, in nanoseconds; 0 where it has gone.
    fn cpu_ns_since(&self) -> u64 {
        crate::probe::cpu_ns_below(self.pid).saturating_sub(self.cpu_ns)
    }
}

impl Offer {
    /// For the run's row, when it has ended.
    pub(crate) fn taken(&self) -> BTreeMap<String, Kept> {
        let kept = |found: &Found| Kept {
            start: found.start,
            runs_before: found.runs_before,
            cpu_ns: found.before.cpu_ns_since(),
        };
        self.servers.iter().map(|(name, found)| (name.clone(), kept(found))).collect()
    }

    /// CPU time since then of servers that are up and not for the run, in nanoseconds.
    pub(crate) fn others_cpu_ns(&self) -> u64 {
        self.others.iter().map(Before::cpu_ns_since).sum()
    }
}

/// Why a server did not start.
enum NotStarted {
    Interrupted,
    Refused(String),
}

impl KeptServers {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, servers: BTreeMap::new() }
    }

    /// Has up what a program names, and says where. `None` when interrupted.
    pub(crate) fn offer(
        &mut self,
        program: &Program,
        cpus: &[usize],
        interrupt: &AtomicBool,
    ) -> Option<Offer> {
        let mut offer = Offer::default();
        for name in &program.keep_up {
            let server = self.servers.entry(name.clone()).or_default();
            if !server.is_up() && server.refused.is_none() {
                let folder = self.folder.join(format!("{name}-{}", server.starts + 1));
                match Keeper::start(&program.path, name, &folder, cpus, interrupt) {
                    Ok(keeper) => {
                        server.keeper = Some(keeper);
                        server.starts += 1;
                    }
                    Err(NotStarted::Refused(why)) => {
                        let note = format!("{name} is not kept up: {why}; each run starts its own");
                        offer.notes.push(note);
                        server.refused = Some(why);
                    }
                    Err(NotStarted::Interrupted) => return None,
                }
            }
            let Some(keeper) = &mut server.keeper else { continue };
            offer.variables.push((kept::variable(name), keeper.offer.clone()));
            let (before, start) = (keeper.before(), server.starts);
            let found = Found { before, start, runs_before: keeper.runs };
            offer.servers.insert(name.clone(), found);
            keeper.runs += 1;
            server.runs += 1;
        }
        let others = self.servers.iter().filter(|(name, _)| !offer.servers.contains_key(*name));
        let keepers = others.filter_map(|(_, server)| server.keeper.as_ref());
        let others = keepers.map(Keeper::before).collect();
        Some(Offer { others, ..offer })
    }

    /// The processes that have them.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let keepers = self.servers.values().filter_map(|server| server.keeper.as_ref());
        keepers.map(|keeper| keeper.child.pid()).collect()
    }

    /// For the session: of each how often it was started, how many runs had it, and why it cannot
    /// be kept up any more; nothing where there is none.
    pub(crate) fn account(&self) -> Option<Value> {
        let of = |server: &Server| match &server.refused {
            None => json!({ "starts": server.starts, "runs": server.runs }),
            Some(why) => {
                json!({ "starts": server.starts, "runs": server.runs, "refused": why })
            }
        };
        let all = self.servers.iter().map(|(name, server)| (name.clone(), of(server)));
        (!self.servers.is_empty()).then(|| all.collect())
    }
}

impl Server {
    /// What has ended is forgotten.
    fn is_up(&mut self) -> bool {
        if !self.keeper.as_mut().is_some_and(|keeper| keeper.child.is_up()) {
            self.keeper = None;
        }
        self.keeper.is_some()
    }
}

impl Keeper {
    fn before(&self) -> Before {
        let pid = self.child.pid();
        Before { pid, cpu_ns: crate::probe::cpu_ns_below(pid) }
    }

    fn start(
        program: &Path,
        name: &str,
        folder: &Path,
        cpus: &[usize],
        interrupt: &AtomicBool,
    ) -> Result<Self, NotStarted> {
        let refused = |error: io::Error| NotStarted::Refused(error.to_string());
        fs::create_dir_all(folder).map_err(refused)?;
        let complaints = folder.with_extension("log");
        let mut command = Command::new(program);
        command.args([kept::ARGUMENT, name]).current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(File::create(&complaints).map_err(refused)?);
        let mut child = Beside::start(&mut command, cpus).map_err(refused)?;
        let input = child.stdin();
        let output = child.stdout().expect("standard output is piped");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            let read = output.by_ref().take(LINE_BYTES_MAX).read_line(&mut line);
            let _ = sender.send(read.ok().and_then(|_| line.strip_suffix('\n').map(str::to_owned)));
            // Nobody listens, but a pipe that is closed or full would end it.
            let _ = io::copy(&mut output, &mut io::sink());
        });
        let mut keeper = Self { child, input, offer: String::new(), runs: 0 };
        let end = Instant::now() + START;
        loop {
            match lines.recv_timeout(LOOK) {
                Ok(Some(offer)) => {
                    keeper.offer = offer;
                    return Ok(keeper);
                }
                Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                    let said = fs::read_to_string(&complaints).unwrap_or_default();
                    let last = said.lines().last().unwrap_or("it says nothing");
                    return Err(NotStarted::Refused(harmless(last)));
                }
                Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Relaxed) => {
                    return Err(NotStarted::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() > end => {
                    let seconds = START.as_secs();
                    return Err(NotStarted::Refused(format!("it is not up after {seconds} s")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait(END);
    }
}
