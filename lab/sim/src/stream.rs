//! One reply on its way to one client: lines, stamps, and what a slow client left unread.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};
use xxhash_rust::xxh64::Xxh64;

use crate::clock::{created_at, now_ns};
use crate::faults::FaultKind;
use crate::http::{JSON, response};
use crate::ledger::{CallRecord, NEVER, Run};
use crate::line::Line;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\
                      Transfer-Encoding: chunked\r\n\r\n";
/// Without chunks the end of the body is the end of the connection.
const PLAIN_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\
                            Connection: close\r\n\r\n";
/// A client that has not read the rest of a reply by then never will.
const UNREAD_NS_MAX: u64 = 60_000_000_000;
const END_OF_BODY: &[u8] = b"0\r\n\r\n";

/// How a reply is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// A chunk for each token.
    Chunks,
    /// A line for each token, for HTTP/1.0.
    Lines,
    /// One object at the end, for `"stream": false`.
    Whole,
}

/// A call as the connection hands it to the pacing thread.
pub(crate) struct Call {
    pub(crate) run: Arc<Run>,
    pub(crate) socket: Arc<TcpStream>,
    pub(crate) port_index: usize,
    pub(crate) seed: i64,
    pub(crate) received_ns: u64,
    pub(crate) heard_ns: u64,
    /// Rough, for `prompt_eval_count`.
    pub(crate) prompt_tokens: usize,
    pub(crate) asked_tokens: usize,
    pub(crate) tokens: Vec<&'static str>,
    /// At least one step, even where a fault leaves no token.
    pub(crate) work_ns: Vec<u64>,
    pub(crate) fault: Option<FaultKind>,
    pub(crate) framing: Framing,
    /// It came by `/api/chat`, which has a message in place of a response.
    pub(crate) is_chat: bool,
    pub(crate) finished: Sender<AfterStream>,
}

/// What the connection does when the stream is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterStream {
    KeepAlive,
    Close,
    Reset,
    HoldOpen,
}

/// The client is gone; there is nobody to write to.
#[derive(Debug)]
pub(crate) struct Gone;

pub(crate) struct Stream {
    pub(crate) call: Call,
    /// The next token, rendered while there is time.
    next: Line,
    model_json: String,
    backlog: Vec<u8>,
    /// When the last line was written or set aside.
    ended_ns: Option<u64>,
    hash: Xxh64,
    record: CallRecord,
}

impl Stream {
    pub(crate) fn new(call: Call) -> Self {
        let record = CallRecord {
            seed: call.seed,
            port_index: call.port_index,
            received_ns: call.received_ns as i64,
            heard_ns: call.heard_ns as i64,
            first_due_ns: NEVER,
            first_sent_ns: NEVER,
            last_sent_ns: NEVER,
            done_sent_ns: NEVER,
            tokens: 0,
            text_hash: 0,
            pacing_error_ns: Vec::with_capacity(call.tokens.len()),
            buffered_writes: 0,
            complete: false,
        };
        let mut stream = Self {
            model_json: serde_json::Value::from(call.run.spec.model.as_str()).to_string(),
            next: Line::default(),
            backlog: Vec::new(),
            ended_ns: None,
            hash: Xxh64::new(0),
            record,
            call,
        };
        stream.render_next();
        stream
    }

    /// Whether step `index` of the schedule carries a token.
    pub(crate) fn has_token(&self, index: usize) -> bool {
        index < self.call.tokens.len()
    }

    /// Whether everything was said and taken.
    pub(crate) fn is_over(&self) -> bool {
        self.ended_ns.is_some() && self.backlog.is_empty()
    }

    /// Whether the client has left a part of it unread for too long since it ended.
    pub(crate) fn is_left_unread(&self, now_ns: u64) -> bool {
        self.ended_ns.is_some_and(|ended_ns| now_ns > ended_ns + UNREAD_NS_MAX)
    }

    pub(crate) fn send_token(&mut self, due_ns: u64) -> Result<(), Gone> {
        let mut line = std::mem::take(&mut self.next);
        let sent_ns = now_ns();
        self.write_line(&mut line, sent_ns)?;
        let record = &mut self.record;
        if record.tokens == 0 {
            record.first_due_ns = due_ns as i64;
            record.first_sent_ns = sent_ns as i64;
        }
        record.last_sent_ns = sent_ns as i64;
        record.pacing_error_ns.push(sent_ns as i64 - due_ns as i64);
        self.hash.update(self.call.tokens[record.tokens].as_bytes());
        record.tokens += 1;
        self.render_next();
        Ok(())
    }

    /// What follows the last token: the `done` line, or what a fault puts in its place.
    pub(crate) fn send_ending(&mut self) -> Result<(), Gone> {
        self.ended_ns = Some(now_ns());
        match self.call.fault {
            Some(FaultKind::Stall | FaultKind::Reset) => Ok(()),
            Some(FaultKind::NeverDone) => self.write_ending(""),
            Some(FaultKind::BrokenJson) => self.write_ending("{\"model\":\"broken\",\"respon\n"),
            Some(FaultKind::ErrorLine) => {
                self.write_ending("{\"error\":\"the model runner has stopped (a fault)\"}\n")
            }
            _ => self.send_done(),
        }
    }

    /// Writes what a slow client had left, now that its socket takes more.
    pub(crate) fn flush(&mut self) -> Result<(), Gone> {
        let taken = self.send_now(&self.backlog)?;
        self.backlog.drain(..taken);
        Ok(())
    }

    /// What the connection does now that [`Stream::is_over`].
    pub(crate) fn outcome(&self) -> AfterStream {
        match self.call.fault {
            Some(FaultKind::Stall) => AfterStream::HoldOpen,
            Some(FaultKind::Reset) => AfterStream::Reset,
            _ if self.call.framing == Framing::Lines => AfterStream::Close,
            _ => AfterStream::KeepAlive,
        }
    }

    /// What the ledger says of this call, at its end or in the middle.
    pub(crate) fn record(&self) -> CallRecord {
        let complete = self.record.done_sent_ns != NEVER && self.is_over();
        CallRecord { text_hash: self.hash.digest() as i64, complete, ..self.record.clone() }
    }

    /// Its `created_at` is the time of rendering, one step ahead; `sent_ns` is the one to trust.
    fn render_next(&mut self) {
        let Some(word) = self.call.tokens.get(self.record.tokens) else { return };
        let fields = format!("{},\"done\":false", self.said(word));
        self.next = Line::render(self.head(), &fields, b"");
    }

    /// The first keys of a line.
    fn said(&self, text: &str) -> String {
        let said = match self.call.is_chat {
            true => format!("\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}}"),
            false => format!("\"response\":\"{text}\""),
        };
        format!("\"model\":{},\"created_at\":\"{}\",{said}", self.model_json, created_at())
    }

    fn send_done(&mut self) -> Result<(), Gone> {
        let record = &self.record;
        // As Ollama counts: prefill ends with the first token, and evaluation begins there. The
        // prefill here contains the wait for the server in `queue` mode.
        let reason = if record.tokens < self.call.asked_tokens { "stop" } else { "length" };
        let first_ns = record.first_sent_ns.max(record.received_ns);
        let text = match self.call.framing {
            Framing::Whole => self.call.tokens[..record.tokens].concat(),
            Framing::Chunks | Framing::Lines => String::new(),
        };
        let fields = format!(
            "{},\"done\":true,\"done_reason\":\"{reason}\",\"total_duration\":{},\
             \"load_duration\":0,\"prompt_eval_count\":{},\"prompt_eval_duration\":{},\
             \"eval_count\":{},\"eval_duration\":{}",
            self.said(&text),
            now_ns() as i64 - record.received_ns,
            self.call.prompt_tokens,
            first_ns - record.received_ns,
            record.tokens,
            record.last_sent_ns.max(first_ns) - first_ns,
        );
        let sent_ns = now_ns();
        if self.call.framing == Framing::Whole {
            let body = format!("{{{fields},\"sent_ns\":{sent_ns}}}");
            self.write(&response("200 OK", JSON, &body))?;
        } else {
            let mut line = Line::render(self.head(), &fields, END_OF_BODY);
            self.write_line(&mut line, sent_ns)?;
        }
        self.record.done_sent_ns = sent_ns as i64;
        Ok(())
    }

    fn write_ending(&mut self, line: &str) -> Result<(), Gone> {
        if self.call.framing == Framing::Whole {
            return self.write(&response("200 OK", JSON, line));
        }
        let mut bytes = self.head().to_vec();
        match self.call.framing {
            Framing::Lines => bytes.extend_from_slice(line.as_bytes()),
            _ if line.is_empty() => bytes.extend_from_slice(END_OF_BODY),
            _ => {
                bytes.extend_from_slice(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes());
                bytes.extend_from_slice(END_OF_BODY);
            }
        }
        self.write(&bytes)
    }

    /// The header travels with the first line, as Ollama's does.
    fn head(&self) -> &'static [u8] {
        match self.call.framing {
            _ if self.record.tokens > 0 => b"",
            Framing::Lines => PLAIN_HEAD,
            Framing::Chunks | Framing::Whole => HEAD,
        }
    }

    fn write_line(&mut self, line: &mut Line, sent_ns: u64) -> Result<(), Gone> {
        let chunk = line.stamp(sent_ns);
        match self.call.framing {
            Framing::Chunks => self.write(chunk),
            Framing::Lines => {
                let head = self.head();
                self.write(&[head, line.plain()].concat())
            }
            // All of it comes with the last one.
            Framing::Whole => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        let taken = if self.backlog.is_empty() { self.send_now(bytes)? } else { 0 };
        if taken < bytes.len() {
            self.backlog.extend_from_slice(&bytes[taken..]);
            self.record.buffered_writes += 1;
        }
        Ok(())
    }

    /// Never waits, although the connection's thread reads the same socket in blocking mode.
    fn send_now(&self, bytes: &[u8]) -> Result<usize, Gone> {
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        match send(self.call.socket.as_raw_fd(), bytes, flags) {
            Ok(taken) => Ok(taken),
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => Ok(0),
            Err(_) => Err(Gone),
        }
    }
}
