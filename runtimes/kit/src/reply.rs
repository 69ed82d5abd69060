//! One reply: its lines, its text, its time stamps.

use serde_json::Value;
use xxhash_rust::xxh64::xxh64;

use crate::ndjson::{Line, LineSplitter, excerpt, said};
use crate::{CallError, Meter};

/// Rows are set aside for at most so many tokens of a call before it starts.
const MAX_RESERVED: i64 = 1 << 16;
/// So much is kept of the body of a response that is no stream, in bytes.
const MAX_ERROR_BODY: usize = 4 << 10;
/// What the server did not say.
const UNSAID: i64 = -1;

/// The samples of one call. The names are those of the columns in `lab_protocol::runtimes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLog {
    /// Before the request was built.
    pub start_ns: i64,
    /// The `done` line was parsed, or the reply was dropped.
    pub end_ns: i64,
    /// It was dropped; -1 where it was read to its end.
    pub dropped_ns: i64,
    /// xxh64 of the answer's bytes, seed 0, bit-cast; thoughts are no part of it.
    pub text_hash: i64,
    /// From the server's last line, -1 where it did not say.
    pub eval_count: i64,
    /// As above.
    pub eval_ns: i64,
    /// As above.
    pub prompt_eval_count: i64,
    /// As above.
    pub prompt_eval_ns: i64,
    /// As above.
    pub load_ns: i64,
    /// As above.
    pub server_total_ns: i64,
    /// The number of the thread that was given its last bytes, -1 before any came.
    pub thread: i64,
    /// Per token, of a thought or of the answer: when the runtime handed its bytes over.
    pub received_ns: Vec<i64>,
    /// Per token: the server's stamp, or -1.
    pub sent_ns: Vec<i64>,
}

impl CallLog {
    /// Rows for `num_predict` tokens are set aside here, so that none are allocated under way.
    pub(crate) fn new(num_predict: i64) -> Self {
        let rows = num_predict.clamp(0, MAX_RESERVED) as usize;
        Self {
            start_ns: UNSAID,
            end_ns: UNSAID,
            dropped_ns: UNSAID,
            text_hash: 0,
            eval_count: UNSAID,
            eval_ns: UNSAID,
            prompt_eval_count: UNSAID,
            prompt_eval_ns: UNSAID,
            load_ns: UNSAID,
            server_total_ns: UNSAID,
            thread: UNSAID,
            received_ns: Vec::with_capacity(rows),
            sent_ns: Vec::with_capacity(rows),
        }
    }

    fn note_last_line(&mut self, line: &Line<'_>) {
        self.eval_count = line.eval_count.unwrap_or(UNSAID);
        self.eval_ns = line.eval_duration.unwrap_or(UNSAID);
        self.prompt_eval_count = line.prompt_eval_count.unwrap_or(UNSAID);
        self.prompt_eval_ns = line.prompt_eval_duration.unwrap_or(UNSAID);
        self.load_ns = line.load_duration.unwrap_or(UNSAID);
        self.server_total_ns = line.total_duration.unwrap_or(UNSAID);
    }
}

/// A reply as it arrives.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    lines: LineSplitter,
    said: Said,
    error_body: Vec<u8>,
}

/// What the lines of a reply have said so far.
#[derive(Debug)]
struct Said {
    /// The model that was asked for.
    model: String,
    text: String,
    done: bool,
}

impl Reply {
    /// `capacity` is that of the call's rows.
    pub(crate) fn new(model: &str, capacity: usize) -> Self {
        // A token is about five bytes.
        let text = String::with_capacity(capacity * 8);
        Self {
            status: 200,
            lines: LineSplitter::default(),
            said: Said { model: model.to_owned(), text, done: false },
            error_body: Vec::new(),
        }
    }

    pub(crate) fn head(&mut self, status: u16) {
        self.status = status;
    }

    pub(crate) fn text(&self) -> &str {
        &self.said.text
    }

    pub(crate) fn is_done(&self) -> bool {
        self.said.done
    }

    /// Takes bytes that were handed over at `received_ns`.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        received_ns: i64,
        log: &mut CallLog,
        meter: &Meter,
    ) -> Result<(), CallError> {
        if self.status != 200 {
            let room = MAX_ERROR_BODY.saturating_sub(self.error_body.len());
            self.error_body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            return Ok(());
        }
        let Self { said, lines, .. } = self;
        lines.push(bytes, |line| said.line(&line, received_ns, log, meter))
    }

    /// The body is complete.
    pub(crate) fn finish(
        &mut self,
        received_ns: i64,
        log: &mut CallLog,
        meter: &Meter,
    ) -> Result<(), CallError> {
        if self.status != 200 {
            return Err(status_error(self.status, &self.error_body));
        }
        let Self { said, lines, .. } = self;
        lines.finish(|line| said.line(&line, received_ns, log, meter))?;
        if !self.said.done {
            return Err(CallError::NoDone { tokens: log.received_ns.len() });
        }
        log.text_hash = self.text_hash();
        Ok(())
    }

    /// Of the text so far.
    pub(crate) fn text_hash(&self) -> i64 {
        xxh64(self.said.text.as_bytes(), 0).cast_signed()
    }
}

impl Said {
    fn line(
        &mut self,
        line: &Line<'_>,
        received_ns: i64,
        log: &mut CallLog,
        meter: &Meter,
    ) -> Result<(), CallError> {
        if let Some(error) = &line.error {
            return Err(CallError::ErrorLine(error.clone()));
        }
        if self.done && (line.done || line.has_token()) {
            return Err(CallError::AfterDone { excerpt: excerpt(line.response.as_bytes()) });
        }
        self.check_model(line)?;
        if line.has_token() {
            meter.token();
            self.text.push_str(&line.response);
            log.received_ns.push(received_ns);
            log.sent_ns.push(line.sent_ns.unwrap_or(UNSAID));
        }
        if line.done {
            self.done = true;
            log.end_ns = crate::now_ns();
            log.note_last_line(line);
        }
        Ok(())
    }

    /// Ollama names the model on every line: none may name another one, and the last must name it.
    fn check_model(&self, line: &Line<'_>) -> Result<(), CallError> {
        let asked = || self.model.clone();
        match &*line.model {
            "" if line.done => Err(CallError::NoModel { asked: asked() }),
            "" => Ok(()),
            said if untagged(said) == untagged(&self.model) => Ok(()),
            said => Err(CallError::WrongModel { asked: asked(), said: said.to_owned() }),
        }
    }
}

/// Ollama's tag `latest` may be left out.
fn untagged(model: &str) -> &str {
    model.strip_suffix(":latest").unwrap_or(model)
}

/// Ollama explains a refusal as `{"error": "…"}`, a gateway with an object there.
fn status_error(status: u16, body: &[u8]) -> CallError {
    let refusal = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let message = match &refusal["error"] {
        Value::Null => excerpt(body),
        error => said(error),
    };
    CallError::Status { status, message }
}
