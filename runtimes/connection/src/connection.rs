//! One agent's connection, kept alive between calls.

use std::io;
use std::mem;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use runtimes_kit::{AgentRun, CallError, Part, Request, ResponseParser, RunError};

use crate::{Silence, Transport};

/// What one read takes at most.
const READ_BYTES: usize = 4 << 10;

/// An agent's connection. After an error it is spent, as its agent is.
#[derive(Debug)]
pub struct Connection<T> {
    stall_timeout: Duration,
    stream: Option<T>,
    parser: ResponseParser,
    buffer: Vec<u8>,
}

/// How an exchange ended.
enum End {
    Whole,
    Closed,
    /// The agent dropped the reply.
    Dropped,
    Failed(CallError),
}

impl<T: Transport> Connection<T> {
    /// Connects when it is first called.
    pub fn new(stall_timeout: Duration) -> Self {
        let (stream, parser) = (None, ResponseParser::default());
        Self { stall_timeout, stream, parser, buffer: vec![0; READ_BYTES] }
    }

    /// A whole call: sends the request and gives the reply to the agent, byte by byte as it comes.
    ///
    /// # Errors
    /// [`RunError::Failed`] where the server cannot be reached, is silent for the stall timeout or
    /// breaks off, and what the agent finds wrong with the reply.
    pub async fn call(&mut self, agent: &mut AgentRun, request: &Request) -> Result<(), RunError> {
        let is_reused = self.stream.is_some();
        let mut end = self.exchange(agent, request).await?;
        // A server may close an idle connection while the next request is on its way; as HTTP
        // clients do, that one request is sent again on a fresh connection.
        let is_gone = !matches!(end, End::Whole | End::Failed(CallError::Stalled));
        if is_reused && is_gone && self.parser.is_idle() {
            self.stream = None;
            end = self.exchange(agent, request).await?;
        }
        if !matches!(end, End::Whole) || !self.parser.keep_alive() {
            self.stream = None;
        }
        match end {
            End::Whole => {}
            End::Dropped => return Ok(()),
            End::Closed => {
                self.parser.closed().map_err(|error| agent.failed(error))?;
            }
            End::Failed(error) => return Err(agent.failed(error)),
        }
        agent.end_of_body()
    }

    async fn exchange(&mut self, agent: &mut AgentRun, request: &Request) -> Result<End, RunError> {
        let timer = pin!(T::sleep_until(Instant::now() + self.stall_timeout));
        let mut silence = Silence::new(self.stall_timeout, timer, T::sleep_until);
        match silence.broken_by(self.send(request)).await {
            None => return Ok(End::Failed(CallError::Stalled)),
            Some(Err(error)) => return Ok(End::Failed(CallError::from_io(&error))),
            Some(Ok(())) => {}
        }
        let Some(stream) = &mut self.stream else { return Ok(End::Closed) };
        loop {
            let read = stream.read(mem::take(&mut self.buffer));
            let Some((read, buffer)) = silence.broken_by(read).await else {
                return Ok(End::Failed(CallError::Stalled));
            };
            self.buffer = buffer;
            let mut input = match read {
                Ok(0) => return Ok(End::Closed),
                Ok(length) => &self.buffer[..length],
                Err(error) => return Ok(End::Failed(CallError::from_io(&error))),
            };
            loop {
                let part = self.parser.next(&mut input).map_err(|error| agent.failed(error))?;
                match part {
                    Some(Part::Head(status)) => agent.head(status),
                    Some(Part::Body(bytes)) => {
                        agent.feed(bytes)?;
                        if agent.drops() {
                            return Ok(self.drop_amid_read());
                        }
                    }
                    Some(Part::End) => return Ok(End::Whole),
                    None => break,
                }
            }
        }
    }

    /// Begins to read on and gives that up, as a task does that is cancelled while it waits. A
    /// transport that blocks its thread waits for the server once more: nobody else can stop it.
    fn drop_amid_read(&mut self) -> End {
        if let Some(stream) = &mut self.stream {
            let read = pin!(stream.read(mem::take(&mut self.buffer)));
            let _ = read.poll(&mut Context::from_waker(Waker::noop()));
        }
        End::Dropped
    }

    /// One that fails leaves no stream.
    async fn send(&mut self, request: &Request) -> io::Result<()> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                self.parser = ResponseParser::default();
                T::connect(&request.authority, self.stall_timeout).await?
            }
        };
        stream.write_all(request.to_http1()).await?;
        self.stream = Some(stream);
        Ok(())
    }
}
