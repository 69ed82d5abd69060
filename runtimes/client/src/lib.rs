//! What the variants on reqwest share, so that they differ in their runtime alone: one client for
//! the process, as in the original, and how its errors are told. It must never know a runtime.

#![forbid(unsafe_code)]

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder};
use runtimes_kit::{AgentRun, CallError, Request, RunError, Workload};

/// The client.
///
/// # Errors
/// It cannot be built.
pub fn client(workload: &Workload) -> Result<Client, RunError> {
    let stall_timeout = Duration::from_millis(workload.stall_timeout_ms);
    // A proxy of the environment would be measured with the runtime, and load goes to no address
    // that the user did not give.
    let client = Client::builder().no_proxy().redirect(Policy::none()).read_timeout(stall_timeout);
    let client = client.build();
    client.map_err(RunError::setup)
}

/// A request that is not sent yet.
pub fn post(client: &Client, request: Request) -> RequestBuilder {
    let post = client.post(request.url).header(CONTENT_TYPE, "application/json");
    post.body(request.body)
}

/// What reqwest reports, as the end of an agent's call.
pub fn failed(agent: &AgentRun, error: &reqwest::Error) -> RunError {
    agent.failed(CallError::from_client(error, error.is_timeout()))
}

/// A whole call on the task that asks, which a Tokio runtime must run.
///
/// # Errors
/// As [`failed`], and what the agent finds wrong with the reply.
pub async fn call(client: &Client, agent: &mut AgentRun, request: Request) -> Result<(), RunError> {
    let sent = post(client, request).send().await;
    let mut response = sent.map_err(|error| failed(agent, &error))?;
    agent.head(response.status().as_u16());
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                agent.feed(&bytes)?;
                if agent.drops() {
                    // It is given up while it waits, as a task is that is cancelled.
                    let _ = pin!(response.chunk()).poll(&mut Context::from_waker(Waker::noop()));
                    return Ok(());
                }
            }
            Ok(None) => return agent.end_of_body(),
            Err(error) => return Err(failed(agent, &error)),
        }
    }
}
