//! What can go wrong in a run, in words that name agent, call and server.

use std::error::Error;
use std::io;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody listens at the address.
    #[error("connection refused")]
    Refused,
    /// The server reset the connection.
    #[error("connection reset by the server")]
    Reset,
    /// The connection closed where the reply had to go on.
    #[error("the connection was closed inside the reply")]
    Cut,
    /// Nothing arrived for the workload's stall timeout.
    #[error("stalled: the server sent nothing for the stall timeout")]
    Stalled,
    /// A token waited for its agent for longer than the workload allows.
    #[error("saturated: a token waited {lag_ms} ms for its agent, and {limit_ms} ms are the limit")]
    Saturated {
        /// From the server's stamp to the agent.
        lag_ms: i64,
        /// The workload's.
        limit_ms: u64,
    },
    /// Any other failure of the connection, with every cause the client names.
    #[error("cannot talk to the server: {0}")]
    Transport(String),
    /// The response is not HTTP/1.1.
    #[error("the response is not HTTP/1.1: {0}")]
    Http(String),
    /// A status other than 200, for example 404 for a model that the server does not have.
    #[error("status {status}: {message}")]
    Status {
        /// The status code.
        status: u16,
        /// The `error` text of the body, or the body.
        message: String,
    },
    /// A line of the stream is no JSON object.
    #[error("broken JSON in line `{excerpt}`: {cause}")]
    BrokenJson {
        /// The line's first 60 characters.
        excerpt: String,
        /// What the parser said.
        cause: String,
    },
    /// A line of the stream reports an error.
    #[error("the server reports an error: {0}")]
    ErrorLine(String),
    /// The server names another model than it was asked for.
    #[error("asked for model {asked}, the server says that it ran {said}")]
    WrongModel {
        /// The request's.
        asked: String,
        /// The reply's.
        said: String,
    },
    /// The line with `done: true` names no model.
    #[error("asked for model {asked}, the server does not say which one it ran")]
    NoModel {
        /// The request's.
        asked: String,
    },
    /// A line with text, or a further `done`, after the line with `done: true`.
    #[error("the server went on after its done line, with `{excerpt}`")]
    AfterDone {
        /// The text of that line, at most 60 characters.
        excerpt: String,
    },
    /// The body ended before a line with `done: true`.
    #[error("the body ended without a done line, after {tokens} tokens")]
    NoDone {
        /// Tokens until then.
        tokens: usize,
    },
}

impl CallError {
    /// Sorts the error of an HTTP client by the system error at the end of its chain of causes.
    /// `timed_out` is the client's own word for a read timeout, which has no system error.
    pub fn from_client(error: &(dyn Error + 'static), timed_out: bool) -> Self {
        if timed_out {
            return Self::Stalled;
        }
        let mut causes = Vec::new();
        let mut next = Some(error);
        while let Some(cause) = next {
            if let Some(known) = cause.downcast_ref::<io::Error>().and_then(Self::known) {
                return known;
            }
            causes.push(cause.to_string());
            next = cause.source();
        }
        // The client says this where the connection closes before the head of the response.
        if causes.iter().any(|cause| cause.contains("closed before message completed")) {
            return Self::Cut;
        }
        Self::Transport(causes.join(": "))
    }

    /// The same for a system error.
    pub fn from_io(error: &io::Error) -> Self {
        Self::known(error).unwrap_or_else(|| Self::Transport(error.to_string()))
    }

    fn known(error: &io::Error) -> Option<Self> {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Some(Self::Refused),
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Some(Self::Reset),
            io::ErrorKind::UnexpectedEof => Some(Self::Cut),
            io::ErrorKind::TimedOut => Some(Self::Stalled),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] io::Error);

    #[test]
    fn the_system_error_at_the_end_of_the_chain_decides() {
        let refused = Outer(io::ErrorKind::ConnectionRefused.into());
        assert!(matches!(CallError::from_client(&refused, false), CallError::Refused));
        assert!(matches!(CallError::from_client(&refused, true), CallError::Stalled));
    }

    #[test]
    fn an_unknown_error_keeps_every_cause() {
        let error = CallError::from_client(&Outer(io::Error::other("inner")), false);
        assert_eq!(error.to_string(), "cannot talk to the server: outer: inner");
    }
}
