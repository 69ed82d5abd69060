//! One streaming request, as its client sees it.

use std::{
    io::{self, BufRead, BufReader, Read},
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use ureq::Agent;

use crate::api::Api;
use crate::openai;
use crate::reply::{Account, Piece, check_model, ollama, refusal};
use crate::seen::{Call, Ending};

/// A reply of a few tokens is far smaller; what sends more is not read to its end.
const REPLY_BYTES_MAX: u64 = 4 << 20;
/// A refusal is a sentence.
const REFUSAL_BYTES_MAX: u64 = 64 << 10;

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
    pub(crate) api: Api,
    pub(crate) model: String,
    pub(crate) prompt: String,
    /// The longest reply in tokens.
    pub(crate) tokens: u32,
    pub(crate) seed: u64,
    /// Whether the model is told to think, or not to.
    pub(crate) think: Option<bool>,
    /// The user's own.
    pub(crate) options: Map<String, Value>,
}

impl Question {
    fn body(&self) -> Value {
        let mut options = self.options.clone();
        options.insert("seed".to_owned(), json!(self.seed));
        match self.api {
            Api::Ollama => {
                options.insert("num_predict".to_owned(), json!(self.tokens));
                let mut body = json!({
                    "model": self.model, "prompt": self.prompt, "stream": true,
                    "options": options,
                });
                if let Some(think) = self.think {
                    body["think"] = json!(think);
                }
                body
            }
            Api::Openai => {
                let own = json!({
                    "model": self.model, "stream": true, "max_tokens": self.tokens,
                    "messages": [{"role": "user", "content": self.prompt}],
                    "stream_options": {"include_usage": true},
                });
                options.extend(
                    own.as_object()
                        .into_iter()
                        .flatten()
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
                Value::Object(options)
            }
        }
    }
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
    let call = reply(client, server, question, began)
        .unwrap_or_else(|failed| Call::failed(failed.outcome, failed.reason));
    Asked { call, began, ended: Instant::now() }
}

/// Why there is no whole reply.
#[derive(Debug)]
struct Failed {
    outcome: Ending,
    reason: String,
}

impl Failed {
    fn because(reason: String) -> Self {
        Self { outcome: Ending::Failed, reason }
    }
}

/// The whole reply, or why there is none.
fn reply(
    client: &Agent,
    server: &str,
    question: &Question,
    began: Instant,
) -> Result<Call, Failed> {
    let sent = client
        .post(format!("{server}{}", question.api.path()))
        .header("content-type", "application/json")
        .send(question.body().to_string());
    let mut response = sent.map_err(|error| failed(&error))?;
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(REPLY_BYTES_MAX).reader();
    let mut lines = BufReader::new(body);
    if response_leads_elsewhere(status) {
        let reason = format!("status {status}: a redirect, and none is followed");
        return Err(Failed::because(reason));
    }
    if status != 200 {
        let mut said = String::new();
        // What cannot be read of it is not said.
        let _ = lines.take(REFUSAL_BYTES_MAX).read_to_string(&mut said);
        return Err(Failed::because(format!("status {status}: {}", refusal(&said))));
    }
    stream(&mut lines, question, began)
}

fn response_leads_elsewhere(status: u16) -> bool {
    (300..400).contains(&status)
}

/// Reads the lines of a stream to its end, of which the last with anything in it must be done.
fn stream(lines: &mut impl BufRead, question: &Question, began: Instant) -> Result<Call, Failed> {
    let mut heard = Heard::default();
    while let Some(text) = next_line(lines).map_err(|error| failed(&error.into()))? {
        let now = Instant::now();
        if text.is_empty() {
            continue;
        }
        let piece = match question.api {
            Api::Ollama => ollama(&text),
            Api::Openai => openai::line(&text, &heard.model),
        };
        let piece = piece.map_err(Failed::because)?;
        let ended = heard.take(piece, question, now).map_err(Failed::because)?;
        if ended {
            heard.check(question, now - began)?;
        }
    }
    if heard.is_done {
        return Ok(heard.answered(began));
    }
    let (end, tokens) = (question.api.end(), heard.received.len());
    let reason = format!("the reply ended without {end}, after {tokens} tokens");
    Err(Failed::because(reason))
}

/// What has come of a reply.
#[derive(Debug, Default)]
struct Heard {
    /// Of each line with text.
    received: Vec<Instant>,
    /// Of the first line with text of the answer.
    first_answer: Option<Instant>,
    thoughts: u64,
    is_done: bool,
    /// The last name that was said.
    model: String,
    account: Account,
}

impl Heard {
    /// Whether the piece ended the reply.
    fn take(&mut self, piece: Piece, question: &Question, now: Instant) -> Result<bool, String> {
        if let Some(error) = piece.error {
            return Err(format!("the server reports an error: {error}"));
        }
        let has_text = piece.answer || piece.thought;
        if self.is_done && (piece.end || has_text) {
            return Err(format!("the server went on after its {}", question.api.end_name()));
        }
        check_model(&piece, &question.model)?;
        if has_text {
            self.received.push(now);
        }
        if piece.answer {
            self.first_answer.get_or_insert(now);
        }
        self.thoughts += u64::from(piece.thought && !piece.answer);
        if !piece.model.is_empty() {
            self.model = piece.model;
        }
        self.account.learn(piece.account);
        self.is_done |= piece.end;
        Ok(piece.end)
    }

    /// Whether the reply has tokens, and what the server says of it can be true.
    fn check(&self, question: &Question, took: Duration) -> Result<(), Failed> {
        let lines = self.received.len() as u64;
        if lines == 0 {
            let reason = "the reply is empty".to_owned();
            return Err(Failed { outcome: Ending::Empty, reason });
        }
        let checked = self.account.check(lines, u64::from(question.tokens), took);
        checked.map_err(Failed::because)
    }

    fn answered(&self, began: Instant) -> Call {
        let lines = self.received.len() as u64;
        let since = |pair: &[Instant]| (pair[1] - pair[0]).as_secs_f64();
        let gaps_s: Vec<f64> = self.received.windows(2).map(since).collect();
        let count = |told: Option<i64>| told.and_then(|count| u64::try_from(count).ok());
        Call {
            outcome: Ending::Answered,
            reason: None,
            first_token_s: self.received.first().map(|first| (*first - began).as_secs_f64()),
            first_answer_s: self.first_answer.map(|first| (first - began).as_secs_f64()),
            thought: self.thoughts > 0,
            streaming_s: gaps_s.iter().sum(),
            tokens: count(self.account.tokens).unwrap_or(lines),
            prompt_tokens: count(self.account.prompt_tokens),
            cached_tokens: count(self.account.cached_tokens),
            gaps_s,
        }
    }
}

/// A line without its end; `None` at the end of the body.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let length = lines.read_until(b'\n', &mut line)?;
    let text = String::from_utf8_lossy(&line);
    Ok((length > 0).then(|| text.trim_end().to_owned()))
}

fn failed(error: &ureq::Error) -> Failed {
    let outcome = match error {
        ureq::Error::Timeout(_) => Ending::TimedOut,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => Ending::TimedOut,
        _ => Ending::Failed,
    };
    Failed { outcome, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use proof_kit::Attack;

    use super::*;

    fn read(text: &str) -> Result<Call, Failed> {
        read_as(Api::Ollama, text)
    }

    fn read_as(api: Api, text: &str) -> Result<Call, Failed> {
        let (model, prompt, options) = ("m".to_owned(), String::new(), Map::new());
        let question = Question { api, model, prompt, tokens: 4, seed: 1, think: None, options };
        stream(&mut text.as_bytes(), &question, Instant::now())
    }

    #[test]
    fn tokens_are_lines_with_text() {
        let text = "{\"response\":\"a\",\"done\":false}\n{\"response\":\"b\"}\n\
                    {\"model\":\"m:latest\",\"done\":true,\"eval_count\":3}\n";
        let call = read(text).unwrap();
        // Two lines had the three tokens that the server counts.
        assert_eq!((call.outcome, call.tokens, call.gaps_s.len()), (Ending::Answered, 3, 1));
        assert!(call.first_token_s.is_some() && call.first_answer_s == call.first_token_s);
    }

    #[test]
    fn a_thought_is_a_token_and_no_answer() {
        let thoughts = "{\"thinking\":\"hm\"}\n{\"thinking\":\" so\",\"response\":\"\"}\n";
        let done = "{\"model\":\"m\",\"response\":\"\",\"done\":true,\"eval_count\":3,\
                    \"prompt_eval_count\":8,\"prompt_eval_cached_count\":5}\n";
        let call = read(&format!("{thoughts}{{\"response\":\"4\"}}\n{done}")).unwrap();
        assert!(call.thought && call.first_token_s < call.first_answer_s);
        assert_eq!((call.tokens, call.prompt_tokens, call.cached_tokens), (3, Some(8), Some(5)));
        // All that was asked for went into the thought.
        let call = read(&format!("{thoughts}{done}")).unwrap();
        assert!(call.thought && call.first_token_s.is_some() && call.first_answer_s.is_none());
        assert_eq!((call.outcome, call.tokens), (Ending::Answered, 3));
    }

    #[test]
    fn blank_lines_and_characters_in_two_pieces_say_nothing() {
        let text = "\r\n\n{\"response\":\"日\"}\n \n{\"model\":\"m\",\"done\":true}\r\n\n";
        assert_eq!(read(text).unwrap().tokens, 1);
    }

    const CHUNK: &str = "data: {\"model\":\"m\",\"choices\":[{\"delta\":";

    #[test]
    fn events_are_read_with_their_usage() {
        let usage = "data: {\"model\":\"m\",\"choices\":[],\"usage\":{\"completion_tokens\":4,\
                     \"prompt_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":2}}}";
        let text = format!(
            ": hello\n\n{CHUNK}{{\"role\":\"assistant\",\"content\":\"\"}}}}]}}\n\n\
             {CHUNK}{{\"reasoning_content\":\"a b\"}}}}]}}\n\n\
             {CHUNK}{{\"content\":\"c d\"}},\"finish_reason\":null}}]}}\n\n\
             {CHUNK}{{}},\"finish_reason\":\"length\"}}]}}\n\n{usage}\n\ndata: [DONE]\n\n"
        );
        let call = read_as(Api::Openai, &text).unwrap();
        assert_eq!((call.tokens, call.gaps_s.len(), call.thought), (4, 1, true));
        assert_eq!((call.prompt_tokens, call.cached_tokens), (Some(9), Some(2)));
        assert!(call.first_token_s < call.first_answer_s);
    }

    #[test]
    fn events_that_are_no_whole_reply_are_a_failure_with_its_reason() {
        let token = format!("{CHUNK}{{\"content\":\"c\"}}}}]}}\n\n");
        let error = "{\"error\":{\"message\":\"no memory\",\"code\":500}}";
        let many = "data: {\"model\":\"m\",\"choices\":[],\"usage\":{\"completion_tokens\":5}}";
        for (text, expected) in [
            (token.clone(), "ended without `[DONE]`, after 1 tokens"),
            ("data: [DONE]\n".to_owned(), "does not name its model"),
            (format!("{CHUNK}{{}}}}]}}\n\ndata: [DONE]\n"), "the reply is empty"),
            (format!("{token}data: {error}\n"), "the server reports an error: no memory"),
            (format!("{token}{error}\n"), "the server reports an error: no memory"),
            (format!("{token}<html>\n"), "broken JSON in line `<html>`"),
            (format!("{token}data: {{\"cho\n"), "broken JSON in line `{\"cho`"),
            (token.replace("\"m\"", "\"m2\""), "ran the model m2"),
            (format!("{token}{many}\n\ndata: [DONE]\n"), "completion_tokens is 5, but 1 lines"),
            (format!("{token}data: [DONE]\n{token}"), "went on after its `[DONE]`"),
        ] {
            let _attack = Attack::on("watch", &format!("events of which is said: {expected}"));
            let reason = read_as(Api::Openai, &text).unwrap_err().reason;
            assert!(reason.contains(expected), "{text}: {reason}");
        }
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
            (line("{\"error\":{\"message\":\"no memory\",\"code\":500}}"), "an error: no memory"),
            (line("{\"error\":{\"code\":500}}"), "reports an error: {\"code\":500}"),
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
            (of_model("\"prompt_eval_count\":2,\"prompt_eval_cached_count\":3"), "3 tokens of the"),
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
            let Failed { outcome, reason } = read(&text).unwrap_err();
            let is_empty = expected == "the reply is empty";
            assert_eq!(outcome, if is_empty { Ending::Empty } else { Ending::Failed });
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }
}
