//! One agent's connection, kept alive between calls.

use std::io;
use std::pin::pin;
use std::time::Duration;

use runtimes_kit::{AgentRun, CallError, Part, Request, ResponseParser, RunError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::select;
use tokio::time::{Instant, sleep, timeout};

pub struct Connection {
    stall_timeout: Duration,
    stream: Option<TcpStream>,
    parser: ResponseParser,
    buffer: Vec<u8>,
}

/// How an exchange ended.
enum End {
    Whole,
    Closed,
    Failed(CallError),
}

impl Connection {
    pub fn new(stall_timeout: Duration) -> Self {
        let (stream, parser) = (None, ResponseParser::default());
        Self { stall_timeout, stream, parser, buffer: vec![0; 4 << 10] }
    }

    pub async fn call(&mut self, agent: &mut AgentRun, request: &Request) -> Result<(), RunError> {
        let output = request.to_http1();
        let is_reused = self.stream.is_some();
        let mut end = self.exchange(agent, request, &output).await?;
        // A server may close an idle connection while the next request is on its way; as HTTP
        // clients do, that one request is sent again on a fresh connection.
        let is_gone = !matches!(end, End::Whole | End::Failed(CallError::Stalled));
        if is_reused && is_gone && self.parser.is_idle() {
            self.stream = None;
            end = self.exchange(agent, request, &output).await?;
        }
        if !matches!(end, End::Whole) || !self.parser.keep_alive() {
            self.stream = None;
        }
        match end {
            End::Whole => {}
            End::Closed => {
                self.parser.closed().map_err(|error| agent.failed(error))?;
            }
            End::Failed(error) => return Err(agent.failed(error)),
        }
        agent.end_of_body()
    }

    async fn exchange(
        &mut self,
        agent: &mut AgentRun,
        request: &Request,
        output: &[u8],
    ) -> Result<End, RunError> {
        match timeout(self.stall_timeout, self.send(&request.authority, output)).await {
            Err(_) => return Ok(End::Failed(CallError::Stalled)),
            Ok(Err(error)) => return Ok(End::Failed(CallError::from_io(&error))),
            Ok(Ok(())) => {}
        }
        let Some(stream) = &mut self.stream else { return Ok(End::Closed) };
        // One timer a reply: a token moves the deadline, not the timer, which is set anew when it
        // fires too early.
        let mut silence = pin!(sleep(self.stall_timeout));
        let mut heard = Instant::now();
        loop {
            let read = select! {
                biased;
                read = stream.read(&mut self.buffer) => read,
                () = silence.as_mut() => {
                    let deadline = heard + self.stall_timeout;
                    if deadline <= Instant::now() {
                        return Ok(End::Failed(CallError::Stalled));
                    }
                    silence.as_mut().reset(deadline);
                    continue;
                }
            };
            let mut input = match read {
                Ok(0) => return Ok(End::Closed),
                Ok(length) => &self.buffer[..length],
                Err(error) => return Ok(End::Failed(CallError::from_io(&error))),
            };
            heard = Instant::now();
            loop {
                let part = self.parser.next(&mut input).map_err(|error| agent.failed(error))?;
                match part {
                    Some(Part::Head(status)) => agent.head(status),
                    Some(Part::Body(bytes)) => agent.feed(bytes)?,
                    Some(Part::End) => return Ok(End::Whole),
                    None => break,
                }
            }
        }
    }

    async fn send(&mut self, authority: &str, output: &[u8]) -> io::Result<()> {
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                self.parser = ResponseParser::default();
                let stream = TcpStream::connect(authority).await?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        self.stream.insert(stream).write_all(output).await
    }
}
