//! One streaming request, as its client sees it.

use std::{
    io::{self, BufRead, BufReader},
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use ureq::Agent;

use crate::seen::{Call, Outcome};

/// A reply of a few tokens is far smaller; what sends more is not read to its end.
const REPLY_BYTES_MAX: u64 = 4 << 20;
/// So much of what a server says stands in a reason.
const EXCERPT_CHARS: usize = 200;

/// A request that is over.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) call: Call,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

/// What is asked, whoever answers.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) options: Map<String, Value>,
}

/// The keys of a line of Ollama's stream that matter here.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    response: String,
    #[serde(default)]
    done: bool,
    error: Option<String>,
}

/// Whom a client asks is what it was told and nobody else: no proxy of the environment, no
/// redirect. A connection is opened for each request, so that one that the server has closed since
/// is no failure.
pub(crate) fn client(limit: Duration) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(limit))
        .proxy(None)
        .max_redirects(0)
        .max_idle_connections(0)
        .http_status_as_error(false);
    config.build().into()
}

/// Asks the server at this base address.
pub(crate) fn ask(client: &Agent, server: &str, question: &Question) -> Asked {
    let began = Instant::now();
    let call = reply(client, server, question, began).unwrap_or_else(|failure| failure);
    Asked { call, began, ended: Instant::now() }
}

/// The whole reply, or the failed call.
fn reply(client: &Agent, server: &str, question: &Question, began: Instant) -> Result<Call, Call> {
    let body = json!({
        "model": question.model, "prompt": question.prompt, "stream": true,
        "options": question.options,
    });
    let sent = client
        .post(format!("{server}/api/generate"))
        .header("content-type", "application/json")
        .send(body.to_string());
    let mut response = sent.map_err(|error| failed(&error))?;
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(REPLY_BYTES_MAX).reader();
    let mut lines = BufReader::new(body);
    if status != 200 {
        let said = next_line(&mut lines).unwrap_or_default().unwrap_or_default();
        return Err(Call::failed(Outcome::Failed, format!("status {status}: {}", excerpt(&said))));
    }
    stream(&mut lines, began)
}

/// Reads the lines of a stream up to the one that is done.
fn stream(lines: &mut impl BufRead, began: Instant) -> Result<Call, Call> {
    let broken = |reason: String| Err(Call::failed(Outcome::Failed, reason));
    let mut received: Vec<Instant> = Vec::new();
    while let Some(text) = next_line(lines).map_err(|error| failed(&error.into()))? {
        let now = Instant::now();
        let Ok(line) = serde_json::from_str::<Line>(&text) else {
            return broken(format!("broken JSON in line `{}`", excerpt(&text)));
        };
        if let Some(error) = line.error {
            return broken(format!("the server reports an error: {}", excerpt(&error)));
        }
        if !line.response.is_empty() {
            received.push(now);
        }
        if line.done {
            return Ok(answered(&received, began));
        }
    }
    broken(format!("the reply ended without a done line, after {} tokens", received.len()))
}

fn answered(received: &[Instant], began: Instant) -> Call {
    let since = |pair: &[Instant]| (pair[1] - pair[0]).as_secs_f64();
    let gaps_s: Vec<f64> = received.windows(2).map(since).collect();
    Call {
        outcome: Outcome::Answered,
        reason: None,
        first_token_s: received.first().map(|first| (*first - began).as_secs_f64()),
        streaming_s: gaps_s.iter().sum(),
        tokens: received.len() as u64,
        gaps_s,
    }
}

/// A line without its end; `None` at the end of the body.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let length = lines.read_until(b'\n', &mut line)?;
    let text = String::from_utf8_lossy(&line);
    Ok((length > 0).then(|| text.trim_end().to_owned()))
}

fn failed(error: &ureq::Error) -> Call {
    let outcome = match error {
        ureq::Error::Timeout(_) => Outcome::TimedOut,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => Outcome::TimedOut,
        _ => Outcome::Failed,
    };
    Call::failed(outcome, error.to_string())
}

fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Call, Call> {
        stream(&mut text.as_bytes(), Instant::now())
    }

    #[test]
    fn tokens_are_lines_with_text() {
        let text = "{\"response\":\"a\",\"done\":false}\n{\"response\":\"b\"}\n{\"done\":true}\n";
        let call = read(text).unwrap();
        assert_eq!((call.outcome, call.tokens, call.gaps_s.len()), (Outcome::Answered, 2, 1));
        assert!(call.first_token_s.is_some());
    }

    #[test]
    fn a_reply_that_is_not_whole_is_a_failure_with_its_reason() {
        for (text, expected) in [
            ("{\"response\":\"a\"}\n", "without a done line, after 1 tokens"),
            ("{\"respon\n", "broken JSON in line `{\"respon`"),
            ("{\"error\":\"no memory\"}\n", "the server reports an error: no memory"),
            ("", "after 0 tokens"),
        ] {
            let call = read(text).unwrap_err();
            let reason = call.reason.unwrap();
            assert_eq!(call.outcome, Outcome::Failed);
            assert!(reason.contains(expected), "{reason}");
        }
    }
}
