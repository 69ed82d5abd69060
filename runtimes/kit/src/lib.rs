//! Sans-I/O parts that every LLM agent client shares.
//!
//! A variant opens sockets, spawns tasks and waits; this crate decides what to send, reads what
//! came back, stamps it and writes the outcome. It is synchronous and starts no thread, so that
//! nothing of it can favour one runtime. It must never know a runtime, an HTTP client or the lab's
//! own server.
//!
//! The door is [`variant_main`]; an agent is an [`AgentRun`] that the variant drives:
//! [`start`](AgentRun::start), run the [`ingest_job`](AgentRun::ingest_job) on a blocking thread,
//! [`ingested`](AgentRun::ingested), then for each [`next_request`](AgentRun::next_request) the
//! [`head`](AgentRun::head), [`feed`](AgentRun::feed) and [`end_of_body`](AgentRun::end_of_body) of
//! its reply, and [`finish`](AgentRun::finish).

#![forbid(unsafe_code)]

mod agent;
mod analysis;
mod descriptors;
mod entry;
mod error;
mod http1;
mod ingest;
mod meter;
mod ndjson;
mod outcome;
mod queue;
mod reply;
mod request;
mod thread;
mod work;

pub use agent::{AgentLog, AgentRun};
pub use entry::{cutting_variant_main, variant_main};
pub use error::CallError;
pub use http1::{Part, ResponseParser};
pub use ingest::{IngestJob, Ingested};
pub use lab_protocol::runtimes::{Arrangement, Workload};
pub use lab_variant::{Identity, RunError, now_ns};
pub use meter::Meter;
pub use reply::CallLog;
pub use request::Request;
