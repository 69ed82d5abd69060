//! One agent's connection through hyper, kept alive between calls.

use std::error::Error;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST};
use hyper::{Method, Response};
use hyper_util::rt::TokioIo;
use runtimes_connection::Silence;
use runtimes_kit::{AgentRun, CallError, Request, RunError};
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio::time::sleep_until;

type Sender = SendRequest<Full<Bytes>>;
type AnyError = Box<dyn Error + Send + Sync>;

pub struct Client {
    stall_timeout: Duration,
    sender: Option<Sender>,
}

impl Client {
    pub fn new(stall_timeout: Duration) -> Self {
        Self { stall_timeout, sender: None }
    }

    /// A whole call: sends the request and gives the reply to the agent.
    pub async fn call(&mut self, agent: &mut AgentRun, request: Request) -> Result<(), RunError> {
        let deadline = Instant::now() + self.stall_timeout;
        let timer = pin!(sleep_until(deadline.into()));
        let next = |deadline: Instant| sleep_until(deadline.into());
        let mut silence = Silence::new(self.stall_timeout, timer, next);
        let Some(sent) = silence.broken_by(self.send(request)).await else {
            return Err(agent.failed(CallError::Stalled));
        };
        let mut response = sent.map_err(|error| failed(agent, &*error))?;
        agent.head(response.status().as_u16());
        loop {
            let Some(frame) = silence.broken_by(response.frame()).await else {
                return Err(agent.failed(CallError::Stalled));
            };
            match frame {
                Some(Ok(frame)) => {
                    // Anything else is a trailer.
                    if let Ok(bytes) = frame.into_data() {
                        agent.feed(&bytes)?;
                    }
                    if agent.drops() {
                        // It is given up while it waits, as a task is that is cancelled.
                        let next = pin!(response.frame());
                        let _ = next.poll(&mut Context::from_waker(Waker::noop()));
                        return Ok(());
                    }
                }
                Some(Err(error)) => return Err(failed(agent, &error)),
                None => return agent.end_of_body(),
            }
        }
    }

    /// On the connection of the call before, where that is still open; a server may close it while
    /// the request is on its way, and then the request is sent again on a fresh one.
    async fn send(&mut self, request: Request) -> Result<Response<Incoming>, AnyError> {
        let authority = request.authority;
        let message = hyper::Request::builder()
            .method(Method::POST)
            .uri(request.path)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "*/*")
            .header(HOST, &authority)
            .body(Full::new(Bytes::from(request.body)))?;
        if let Some(mut sender) = self.sender.take()
            && sender.ready().await.is_ok()
        {
            match sender.send_request(message.clone()).await {
                Err(error) if is_gone(&error) => {}
                result => {
                    self.sender = Some(sender);
                    return Ok(result?);
                }
            }
        }
        let sender = self.sender.insert(connect(&authority).await?);
        Ok(sender.send_request(message).await?)
    }
}

async fn connect(authority: &str) -> Result<Sender, AnyError> {
    let stream = TcpStream::connect(authority).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    // How it ends, the agent hears from its sender.
    spawn_local(connection);
    Ok(sender)
}

/// Whether the connection ended before a byte of the response came.
fn is_gone(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    error.is_canceled() || error.is_incomplete_message() || cause.is_some()
}

/// What hyper reports, as the end of an agent's call.
fn failed(agent: &AgentRun, error: &(dyn Error + 'static)) -> RunError {
    agent.failed(CallError::from_client(error, false))
}
