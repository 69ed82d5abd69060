//! The running server: its threads, and the control lines that steer it.

use std::io::{BufRead, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, anyhow};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use serde::Deserialize;
use serde_json::json;

use crate::arrival::prepare;
use crate::connection::{Shared, serve_connection};
use crate::http::response;
use crate::ledger::{Ledger, Run};
use crate::limits;
use crate::pacer::{Command, Inbox, Pacer};
use crate::spec::ServerSpec;

/// Where no descriptor is left, the next look waits for one.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server on open ports. It streams nothing before [`Server::begin`].
pub struct Server {
    shared: Arc<Shared>,
    ports: Vec<u16>,
    /// Becomes readable, and stays so, when the server ends.
    stopped: Arc<EventFd>,
    acceptors: Vec<JoinHandle<()>>,
    pacer: Option<JoinHandle<anyhow::Result<()>>>,
}

/// One control line.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Control {
    Begin(Begin),
    Collect(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin {
    run: String,
    server: ServerSpec,
}

/// Runs a server until `control_in` ends.
///
/// Writes `{"ports":[…]}` first; then answers each line of `control_in` with one line:
/// `{"begin":{"run":ID,"server":SPEC}}` with `{"ready":ID}`, `{"collect":ID}` with
/// `{"ledger":…}` (see [`Ledger`]), and what it cannot do with `{"error":"…"}`.
///
/// # Errors
/// When a thread or a descriptor cannot be had, or a control stream breaks.
pub fn serve(
    listeners: Vec<TcpListener>,
    control_in: impl BufRead,
    mut control_out: impl Write,
) -> anyhow::Result<()> {
    let server = Server::start(listeners)?;
    let mut answer = json!({"ports": server.ports()}).to_string();
    let mut lines = control_in.lines();
    loop {
        writeln!(control_out, "{answer}").context("failed to write to the control output")?;
        control_out.flush().context("failed to write to the control output")?;
        let Some(line) = lines.next() else { return server.stop() };
        let line = line.context("failed to read the control input")?;
        answer = match server.control(&line) {
            Ok(answer) => answer.to_string(),
            Err(error) => json!({"error": format!("{error:#}")}).to_string(),
        };
    }
}

impl Server {
    /// Starts the threads. The listeners may be bound to port 0.
    ///
    /// # Errors
    /// When the system refuses a thread or a descriptor.
    pub fn start(listeners: Vec<TcpListener>) -> anyhow::Result<Self> {
        let inbox = Arc::new(Inbox::new()?);
        let pacer = Pacer::new(Arc::clone(&inbox)).context("failed to set up the pacing thread")?;
        let pacer = thread::Builder::new().name("pacer".into()).spawn(|| pacer.run())?;
        let (run, connections) = (Mutex::new(None), AtomicUsize::new(0));
        let mut server = Self {
            shared: Arc::new(Shared {
                inbox,
                run,
                connections,
                accepted: AtomicU64::new(0),
                replies: AtomicU64::new(0),
                replies_max: AtomicU64::new(u64::MAX),
                is_flooded: AtomicBool::new(false),
                most: limits::connections(),
            }),
            ports: Vec::new(),
            stopped: Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?),
            acceptors: Vec::new(),
            pacer: Some(pacer),
        };
        for (port_index, listener) in listeners.into_iter().enumerate() {
            server.ports.push(listener.local_addr()?.port());
            prepare(&listener).context("failed to lengthen the queue of a port")?;
            listener.set_nonblocking(true)?;
            let (shared, stopped) = (Arc::clone(&server.shared), Arc::clone(&server.stopped));
            let acceptor = move || accept_until_stopped(&listener, port_index, &shared, &stopped);
            server.acceptors.push(thread::Builder::new().name("accept".into()).spawn(acceptor)?);
        }
        Ok(server)
    }

    /// The ports in the order of the listeners.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// Connections so far.
    pub fn connections(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// Gives about so many replies and refuses the rest, so that its ledger stays small.
    pub fn bound_replies(&self, most: u64) {
        self.shared.replies_max.store(most, Ordering::Relaxed);
    }

    /// Whether more replies were asked for than [`Server::bound_replies`] lets it give.
    pub fn is_flooded(&self) -> bool {
        self.shared.is_flooded.load(Ordering::Relaxed)
    }

    /// Begins a run. What the run before it was still streaming is broken off.
    ///
    /// # Errors
    /// When the spec asks for what no server could do; see [`ServerSpec::check`].
    pub fn begin(&self, run: &str, spec: ServerSpec) -> anyhow::Result<()> {
        self.begin_run(run, spec, true)
    }

    /// The same without a ledger: nothing is kept of calls that have ended, so that a server may
    /// run for as long as it likes.
    ///
    /// # Errors
    /// As [`Server::begin`].
    pub fn begin_unrecorded(&self, run: &str, spec: ServerSpec) -> anyhow::Result<()> {
        self.begin_run(run, spec, false)
    }

    fn begin_run(&self, run: &str, spec: ServerSpec, is_recorded: bool) -> anyhow::Result<()> {
        spec.check(self.ports.len()).map_err(|error| anyhow!("run {run:?}: {error}"))?;
        let run = Arc::new(Run::new(run.to_owned(), spec, is_recorded));
        // In this order the pacing thread knows the run before the first call of it arrives.
        self.shared.inbox.send(Command::Begin(Arc::clone(&run)));
        *self.present_run() = Some(run);
        Ok(())
    }

    /// What the server did since `begin`; calls that still stream are in it as incomplete.
    ///
    /// # Errors
    /// When another run, or none, is the present one.
    pub fn collect(&self, id: &str) -> anyhow::Result<Ledger> {
        let run = self.present_run().clone().filter(|run| run.id == id);
        let run = run.ok_or_else(|| anyhow!("cannot collect {id:?}: it is not the present run"))?;
        let (reply, records) = mpsc::channel();
        self.shared.inbox.send(Command::Collect(reply));
        Ok(run.ledger(records.recv().context("the pacing thread has ended")?))
    }

    /// Ends the server. Connections that are open end with the process, or when they are idle.
    ///
    /// # Errors
    /// Whatever had ended the pacing thread before.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.end_threads()
    }

    fn control(&self, line: &str) -> anyhow::Result<serde_json::Value> {
        match serde_json::from_str(line).context("cannot read the control line")? {
            Control::Begin(Begin { run, server }) => {
                self.begin(&run, server)?;
                Ok(json!({"ready": run}))
            }
            Control::Collect(run) => Ok(json!({"ledger": self.collect(&run)?})),
        }
    }

    fn present_run(&self) -> std::sync::MutexGuard<'_, Option<Arc<Run>>> {
        self.shared.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_threads(&mut self) -> anyhow::Result<()> {
        let Some(pacer) = self.pacer.take() else { return Ok(()) };
        self.stopped.write(1).context("failed to stop the server")?;
        for acceptor in self.acceptors.drain(..) {
            let _ = acceptor.join();
        }
        self.shared.inbox.send(Command::Stop);
        pacer.join().map_err(|_| anyhow!("the pacing thread panicked"))?
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whoever wants to know how it ended calls `stop`.
        let _ = self.end_threads();
    }
}

fn accept_until_stopped(
    listener: &TcpListener,
    port_index: usize,
    shared: &Arc<Shared>,
    stopped: &EventFd,
) {
    loop {
        let mut waiting = [
            PollFd::new(stopped.as_fd(), PollFlags::POLLIN),
            PollFd::new(listener.as_fd(), PollFlags::POLLIN),
        ];
        let _ = poll(&mut waiting, PollTimeout::NONE);
        if waiting[0].any().unwrap_or(false) {
            return;
        }
        match listener.accept() {
            Ok((socket, _)) => spawn_connection(socket, port_index, shared),
            // The client left again, or another thread was faster.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            // No descriptor is left: the client stays in the queue, and asking at once would spin.
            Err(_) => thread::sleep(ACCEPT_PAUSE),
        }
    }
}

fn spawn_connection(socket: TcpStream, port_index: usize, shared: &Arc<Shared>) {
    shared.accepted.fetch_add(1, Ordering::Relaxed);
    if shared.connections.fetch_add(1, Ordering::Relaxed) >= shared.most {
        shared.connections.fetch_sub(1, Ordering::Relaxed);
        let body = json!({"error": "too many connections"}).to_string();
        let _ =
            (&socket).write_all(&response("503 Service Unavailable", "application/json", &body));
        return;
    }
    let in_thread = Arc::clone(shared);
    let spawned = thread::Builder::new().stack_size(256 * 1024).spawn(move || {
        serve_connection(socket, port_index, &in_thread);
        in_thread.connections.fetch_sub(1, Ordering::Relaxed);
    });
    if spawned.is_err() {
        // The socket went with the closure: the client sees its connection closed.
        shared.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
