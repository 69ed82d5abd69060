//! What the variants on Tokio's sockets share, so that they differ in how they schedule alone: one
//! agent, from its folder to its last reply. It must never know which of Tokio's runtimes runs it.

#![forbid(unsafe_code)]

use std::io;
use std::time::{Duration, Instant};

use runtimes_connection::{Connection, Transport};
use runtimes_kit::{AgentLog, AgentRun, RunError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A socket of the runtime that runs the task.
#[derive(Debug)]
pub struct TokioTransport(TcpStream);

impl Transport for TokioTransport {
    async fn connect(authority: &str, _: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    async fn write_all(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.0.write_all(&bytes).await
    }

    async fn read(&mut self, mut buffer: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        (self.0.read(&mut buffer).await, buffer)
    }

    fn sleep_until(deadline: Instant) -> impl Future<Output = ()> {
        tokio::time::sleep_until(deadline.into())
    }
}

/// All of one agent's work.
///
/// # Errors
/// Those of its folder and its calls.
pub async fn drive(mut agent: AgentRun, stall_timeout: Duration) -> Result<AgentLog, RunError> {
    if let Some(due) = agent.due() {
        tokio::time::sleep_until(due.into()).await;
    }
    agent.start();
    let job = agent.ingest_job();
    let ingested = tokio::task::spawn_blocking(|| job.run()).await;
    agent.ingested(ingested.expect("reading a folder does not panic"))?;
    let mut connection = Connection::<TokioTransport>::new(stall_timeout);
    while let Some(request) = agent.next_request() {
        connection.call(&mut agent, &request).await?;
    }
    Ok(agent.finish())
}
