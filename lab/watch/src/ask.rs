//! One streaming request, as its client sees it.

use std::{
    io::{self, BufRead, BufReader},
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use ureq::Agent;

use crate::reply::Line;
use crate::seen::{Call, Ending};

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
    /// The longest reply in tokens, which the options say too.
    pub(crate) tokens: u32,
    pub(crate) options: Map<String, Value>,
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
    if response_leads_elsewhere(status) {
        let reason = format!("status {status}: a redirect, and none is followed");
        return Err(Call::failed(Ending::Failed, reason));
    }
    if status != 200 {
        let said = next_line(&mut lines).unwrap_or_default().unwrap_or_default();
        return Err(Call::failed(Ending::Failed, format!("status {status}: {}", excerpt(&said))));
    }
    stream(&mut lines, question, began)
}

fn response_leads_elsewhere(status: u16) -> bool {
    (300..400).contains(&status)
}

/// Reads the lines of a stream to its end, of which the last with anything in it must be done.
fn stream(lines: &mut impl BufRead, question: &Question, began: Instant) -> Result<Call, Call> {
    let failed_because = |reason: String| Call::failed(Ending::Failed, reason);
    let broken = |reason: String| Err(failed_because(reason));
    let mut received: Vec<Instant> = Vec::new();
    let mut is_done = false;
    while let Some(text) = next_line(lines).map_err(|error| failed(&error.into()))? {
        let now = Instant::now();
        if text.is_empty() {
            continue;
        }
        let Ok(line) = serde_json::from_str::<Line>(&text) else {
            return broken(format!("broken JSON in line `{}`", excerpt(&text)));
        };
        if let Some(error) = line.error {
            return broken(format!("the server reports an error: {}", excerpt(&error)));
        }
        if is_done && (line.done || !line.response.is_empty()) {
            return broken("the server went on after its done line".to_owned());
        }
        line.check_model(&question.model).map_err(failed_because)?;
        if !line.response.is_empty() {
            received.push(now);
        }
        if line.done {
            is_done = true;
            let lines = received.len() as u64;
            let account = line.check_account(lines, u64::from(question.tokens), now - began);
            account.map_err(failed_because)?;
        }
    }
    if is_done {
        return Ok(answered(&received, began));
    }
    broken(format!("the reply ended without a done line, after {} tokens", received.len()))
}

fn answered(received: &[Instant], began: Instant) -> Call {
    let since = |pair: &[Instant]| (pair[1] - pair[0]).as_secs_f64();
    let gaps_s: Vec<f64> = received.windows(2).map(since).collect();
    Call {
        outcome: Ending::Answered,
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
        ureq::Error::Timeout(_) => Ending::TimedOut,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => Ending::TimedOut,
        _ => Ending::Failed,
    };
    Call::failed(outcome, error.to_string())
}

fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proof_kit::Attack;

    use super::*;

    fn read(text: &str) -> Result<Call, Call> {
        let question = Question {
            model: "m".to_owned(),
            prompt: String::new(),
            tokens: 4,
            options: Map::new(),
        };
        stream(&mut text.as_bytes(), &question, Instant::now())
    }

    #[test]
    fn tokens_are_lines_with_text() {
        let text = "{\"response\":\"a\",\"done\":false}\n{\"response\":\"b\"}\n\
                    {\"model\":\"m:latest\",\"done\":true,\"eval_count\":3}\n";
        let call = read(text).unwrap();
        assert_eq!((call.outcome, call.tokens, call.gaps_s.len()), (Ending::Answered, 2, 1));
        assert!(call.first_token_s.is_some());
    }

    /// A reply of two tokens, whose last line has more keys.
    fn ending(keys: &str) -> String {
        format!("{{\"response\":\"a\"}}\n{{\"response\":\"b\"}}\n{{\"done\":true,{keys}}}\n")
    }

    #[test]
    fn a_reply_that_is_not_whole_or_cannot_be_true_is_a_failure_with_its_reason() {
        let of_model = |keys: &str| ending(&format!("\"model\":\"m\",{keys}"));
        let line = |text: &str| text.to_owned() + "\n";
        for (text, expected) in [
            (line("{\"response\":\"a\"}"), "without a done line, after 1 tokens"),
            (line("{\"respon"), "broken JSON in line `{\"respon`"),
            (line("[1]"), "broken JSON in line `[1]`"),
            (line("{\"error\":\"no memory\"}"), "the server reports an error: no memory"),
            (String::new(), "after 0 tokens"),
            (line("{\"model\":\"m\",\"done\":true}"), "the reply is empty"),
            (line("{\"model\":\"m\",\"done\":true,\"eval_count\":3}"), "the reply is empty"),
            (line("{\"model\":\"other\",\"response\":\"a\"}"), "ran the model other"),
            (ending("\"model\":\"other\""), "ran the model other; asked was m"),
            (ending("\"model\":\"m2:latest\""), "ran the model m2:latest"),
            (ending("\"eval_count\":2"), "does not name its model"),
            (of_model("\"eval_count\":0"), "eval_count is 0, but 2 lines had text"),
            (of_model("\"eval_count\":1"), "eval_count is 1, but 2 lines had text"),
            (of_model("\"eval_count\":5"), "eval_count is 5, but 2 lines had text and 4 tokens"),
            (of_model("\"eval_count\":-2"), "eval_count is -2"),
            (of_model("\"prompt_eval_count\":-1"), "prompt_eval_count is -1: impossible"),
            (of_model("\"eval_duration\":-1"), "eval_duration is -1 ns"),
            (of_model("\"total_duration\":9000000000000"), "total_duration is 9000000000000 ns"),
            (of_model("\"load_duration\":-9223372036854775808"), "load_duration is -9223372036"),
            (of_model("\"prompt_eval_duration\":9e30"), "broken JSON"),
            (of_model("\"eval_count\":2") + "{\"response\":\"c\"}\n", "after its done line"),
            (of_model("\"eval_count\":2").repeat(2), "after its done line"),
            (line("{\"response\":\"a\"}").repeat(5) + &of_model("\"x\":1"), "has 7 tokens"),
        ] {
            let _attack =
                Attack::on("watch", &format!("a reply that begins {text} and {expected}"));
            let call = read(&text).unwrap_err();
            let reason = call.reason.unwrap();
            assert_eq!(call.outcome, Ending::Failed);
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }
}
