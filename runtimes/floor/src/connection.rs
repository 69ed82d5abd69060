//! One agent's connection: non-blocking, kept alive between calls.

use std::io::{self, Read, Write};
use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use runtimes_kit::{
    AgentLog, AgentRun, CallError, IngestJob, Ingested, Part, ResponseParser, RunError,
};

/// Where an agent is after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It waits for its server.
    Waiting,
    /// Its last call is done.
    Finished,
}

pub struct Connection {
    agent: AgentRun,
    has_started: bool,
    token: Token,
    /// When the server was last asked or heard; `None` while no call is under way.
    heard: Option<Instant>,
    stream: Option<TcpStream>,
    /// The stream has carried a call before this one.
    reused: bool,
    authority: String,
    output: Vec<u8>,
    written: usize,
    parser: ResponseParser,
}

impl Connection {
    pub fn new(agent: AgentRun, token: Token) -> Self {
        Self {
            agent,
            has_started: false,
            token,
            heard: None,
            stream: None,
            reused: false,
            authority: String::new(),
            output: Vec::new(),
            written: 0,
            parser: ResponseParser::default(),
        }
    }

    /// When it is to start; `None` for at once.
    pub fn due(&self) -> Option<Instant> {
        self.agent.due()
    }

    pub fn has_started(&self) -> bool {
        self.has_started
    }

    pub fn start(&mut self) -> IngestJob {
        self.has_started = true;
        self.agent.start();
        self.agent.ingest_job()
    }

    pub fn ingested(
        &mut self,
        registry: &Registry,
        now: Instant,
        result: io::Result<Ingested>,
    ) -> Result<Progress, RunError> {
        self.agent.ingested(result)?;
        self.begin_call(registry, now)
    }

    /// When it will have been silent for too long; `None` while no call is under way.
    pub fn deadline(&self, stall_timeout: Duration) -> Option<Instant> {
        self.heard.map(|heard| heard + stall_timeout)
    }

    pub fn stalled(&self) -> RunError {
        self.agent.failed(CallError::Stalled)
    }

    pub fn into_log(self) -> AgentLog {
        self.agent.finish()
    }

    /// The socket can be written or read. A short read means that it is drained, so that the next
    /// bytes raise a new event (epoll(7), "edge-triggered"); but where this event was `closing`,
    /// it has announced the end behind the bytes, too, and none will follow. `now` is the clock's
    /// reading that all connections of one wake-up share.
    pub fn ready(
        &mut self,
        registry: &Registry,
        now: Instant,
        closing: bool,
        buffer: &mut [u8],
    ) -> Result<Progress, RunError> {
        loop {
            let result = self.flush().and_then(|()| match &mut self.stream {
                Some(stream) => stream.read(buffer),
                None => Err(io::ErrorKind::WouldBlock.into()),
            });
            match result {
                Ok(0) => return self.on_close(registry, now, None),
                Ok(length) => {
                    self.heard = Some(now);
                    if self.consume(registry, now, &buffer[..length])? == Progress::Finished {
                        return Ok(Progress::Finished);
                    }
                    if length < buffer.len() && !closing {
                        return Ok(Progress::Waiting);
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    // A socket that is still connecting says one or the other.
                    io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected => {
                        return Ok(Progress::Waiting);
                    }
                    _ => return self.on_close(registry, now, Some(error)),
                },
            }
        }
    }

    fn begin_call(&mut self, registry: &Registry, now: Instant) -> Result<Progress, RunError> {
        let Some(request) = self.agent.next_request() else {
            self.heard = None;
            self.stream = None;
            return Ok(Progress::Finished);
        };
        self.output = request.to_http1();
        self.authority = request.authority;
        self.written = 0;
        self.reused = self.stream.is_some();
        self.heard = Some(now);
        let connected = if self.reused { Ok(()) } else { self.connect(registry) };
        // Over the loopback a connection is there at once, elsewhere when it can be written.
        match connected.and_then(|()| self.flush()) {
            Ok(()) => Ok(Progress::Waiting),
            Err(error) => self.on_close(registry, now, Some(error)),
        }
    }

    fn connect(&mut self, registry: &Registry) -> io::Result<()> {
        let address = self.authority.to_socket_addrs()?.next();
        let mut stream = TcpStream::connect(address.ok_or(io::ErrorKind::AddrNotAvailable)?)?;
        stream.set_nodelay(true)?;
        registry.register(&mut stream, self.token, Interest::READABLE | Interest::WRITABLE)?;
        self.stream = Some(stream);
        self.parser = ResponseParser::default();
        Ok(())
    }

    /// Writes what is left of the request, as far as the socket takes it.
    fn flush(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while self.written < self.output.len() {
            match stream.write(&self.output[self.written..]) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn consume(
        &mut self,
        registry: &Registry,
        now: Instant,
        mut input: &[u8],
    ) -> Result<Progress, RunError> {
        loop {
            let part = self.parser.next(&mut input).map_err(|error| self.agent.failed(error))?;
            match part {
                Some(Part::Head(status)) => self.agent.head(status),
                Some(Part::Body(bytes)) => {
                    self.agent.feed(bytes)?;
                    if self.agent.drops() {
                        return self.begin_call(registry, now);
                    }
                }
                Some(Part::End) => return self.end_call(registry, now),
                None => return Ok(Progress::Waiting),
            }
        }
    }

    fn end_call(&mut self, registry: &Registry, now: Instant) -> Result<Progress, RunError> {
        self.agent.end_of_body()?;
        if !self.parser.keep_alive() {
            self.stream = None;
        }
        self.begin_call(registry, now)
    }

    /// The connection is gone, with an error or without.
    fn on_close(
        &mut self,
        registry: &Registry,
        now: Instant,
        error: Option<io::Error>,
    ) -> Result<Progress, RunError> {
        self.stream = None;
        // A server may close an idle connection while the next request is on its way; as HTTP
        // clients do, that one request is sent again on a fresh connection.
        if std::mem::take(&mut self.reused) && self.parser.is_idle() {
            self.written = 0;
            return match self.connect(registry) {
                Ok(()) => Ok(Progress::Waiting),
                Err(error) => Err(self.agent.failed(CallError::from_io(&error))),
            };
        }
        if let Some(error) = error {
            return Err(self.agent.failed(CallError::from_io(&error)));
        }
        self.parser.closed().map_err(|error| self.agent.failed(error))?;
        self.end_call(registry, now)
    }
}
