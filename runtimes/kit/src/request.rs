//! The next thing an agent sends.

use lab_protocol::runtimes::{Agent, Options, Workload};
use serde::Serialize;

const PATH: &str = "/api/generate";

/// One `POST` of a JSON body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The whole address, for a client that parses it.
    pub url: String,
    /// `host:port`, for a client that connects by itself and for the `host` header.
    pub authority: String,
    /// The path, for a client that writes its own request line.
    pub path: String,
    /// The JSON body.
    pub body: Vec<u8>,
}

#[derive(Serialize)]
struct Generate<'a> {
    model: &'a str,
    prompt: &'a str,
    stream: bool,
    options: &'a Options,
}

impl Request {
    /// The request of `agent`'s call number `call` with `prompt`.
    pub(crate) fn generate(agent: &Agent, call: usize, prompt: &str) -> Self {
        let options = &agent.calls[call].options;
        let body = Generate { model: &agent.model, prompt, stream: true, options };
        let (authority, prefix) = split(&agent.server).expect("the workload was checked");
        Self {
            url: format!("{}{PATH}", agent.server.trim_end_matches('/')),
            authority: authority.to_owned(),
            path: format!("{prefix}{PATH}"),
            body: serde_json::to_vec(&body).expect("a prompt and numbers are JSON"),
        }
    }

    /// The bytes of the request as HTTP/1.1, for a client without an HTTP library. The header
    /// fields are those that reqwest sends.
    pub fn to_http1(&self) -> Vec<u8> {
        let Self { authority, path, body, .. } = self;
        let length = body.len();
        let mut bytes = format!(
            "POST {path} HTTP/1.1\r\ncontent-type: application/json\r\naccept: */*\r\n\
             host: {authority}\r\ncontent-length: {length}\r\n\r\n"
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }
}

/// Refuses a workload that no variant can run.
///
/// # Errors
/// A sentence that names the agent and the key.
pub(crate) fn check(workload: &Workload) -> Result<(), String> {
    if workload.agents.is_empty() {
        return Err("the workload names no agent: give `agents` at least one".to_owned());
    }
    if workload.stall_timeout_ms == 0 {
        return Err("`stall_timeout_ms` is 0: give at least 1".to_owned());
    }
    for (index, agent) in workload.agents.iter().enumerate() {
        if agent.calls.is_empty() {
            return Err(format!("agent {index}: `calls` is empty: give at least one"));
        }
        if split(&agent.server).is_none() {
            return Err(format!(
                "agent {index}: `server` is `{}`: write it as http://HOST:PORT",
                agent.server
            ));
        }
    }
    Ok(())
}

/// `http://host:port/prefix/` as (`host:port`, `/prefix`).
fn split(server: &str) -> Option<(&str, &str)> {
    let rest = server.strip_prefix("http://")?.trim_end_matches('/');
    let (authority, prefix) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = authority.rsplit_once(':')?;
    let valid = !host.is_empty() && port.parse::<u16>().is_ok();
    valid.then_some((authority, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_split_into_authority_and_prefix() {
        assert_eq!(split("http://127.0.0.1:1"), Some(("127.0.0.1:1", "")));
        assert_eq!(split("http://[::1]:80/a/b/"), Some(("[::1]:80", "/a/b")));
        for wrong in ["127.0.0.1:1", "https://a:1", "http://a", "http://a:70000", "http://:1"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_body_leaves_out_options_that_were_not_given() {
        let agent: Agent = serde_json::from_str(
            r#"{"server":"http://h:1/","model":"m","calls":[{"prompt":"p",
                "options":{"num_ctx":512,"seed":7,"num_predict":3}}]}"#,
        )
        .unwrap();
        let request = Request::generate(&agent, 0, "p");
        assert_eq!(request.url, "http://h:1/api/generate");
        let expected = concat!(
            r#"{"model":"m","prompt":"p","stream":true,"#,
            r#""options":{"num_ctx":512,"seed":7,"num_predict":3}}"#
        );
        assert_eq!(String::from_utf8(request.body.clone()).unwrap(), expected);
        let bytes = String::from_utf8(request.to_http1()).unwrap();
        assert!(bytes.starts_with("POST /api/generate HTTP/1.1\r\n"), "{bytes}");
        assert!(bytes.contains("\r\nhost: h:1\r\ncontent-length: 91\r\n\r\n{"), "{bytes}");
    }
}
