//! One reply on its way to one client: lines, stamps, and what a slow client left unread.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};
use xxhash_rust::xxh64::Xxh64;

use crate::clock::now_ns;
use crate::faults::FaultKind;
use crate::http::{JSON, response};
use crate::ledger::{CallRecord, NEVER, Run};
use crate::line::Line;
use crate::wire::{Account, Brackets, Piece, Wire};

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
    /// What each step of the schedule sends.
    pub(crate) pieces: Vec<Piece>,
    /// At least one step, even where a fault leaves no token.
    pub(crate) work_ns: Vec<u64>,
    pub(crate) fault: Option<FaultKind>,
    pub(crate) framing: Framing,
    pub(crate) wire: Wire,
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

/// A part of a body with its length; nothing for nothing, which would be the end.
fn chunk(text: &str) -> Vec<u8> {
    match text.len() {
        0 => Vec::new(),
        length => format!("{length:x}\r\n{text}\r\n").into_bytes(),
    }
}

pub(crate) struct Stream {
    pub(crate) call: Call,
    /// The next token, rendered while there is time.
    next: Line,
    /// Pieces that were sent.
    sent: usize,
    /// The header was.
    has_head: bool,
    thought_tokens: usize,
    backlog: Vec<u8>,
    /// When the last line was written or set aside.
    ended_ns: Option<u64>,
    hash: Xxh64,
    record: CallRecord,
}

impl Stream {
    pub(crate) fn new(call: Call) -> Self {
        let tokens = call.pieces.iter().map(|piece| piece.tokens).sum();
        let record = CallRecord {
            id: call.wire.id.clone(),
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
            sent_ns: Vec::with_capacity(tokens),
            pacing_error_ns: Vec::with_capacity(tokens),
            left_ns: NEVER,
            buffered_writes: 0,
            complete: false,
        };
        let mut stream = Self {
            sent: 0,
            has_head: false,
            thought_tokens: 0,
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

    /// Whether step `index` of the schedule carries tokens.
    pub(crate) fn has_piece(&self, index: usize) -> bool {
        index < self.call.pieces.len()
    }

    /// Whether everything was said and taken.
    pub(crate) fn is_over(&self) -> bool {
        self.ended_ns.is_some() && self.backlog.is_empty()
    }

    /// Whether the client has left a part of it unread for too long since it ended.
    pub(crate) fn is_left_unread(&self, now_ns: u64) -> bool {
        self.ended_ns.is_some_and(|ended_ns| now_ns > ended_ns + UNREAD_NS_MAX)
    }

    pub(crate) fn send_piece(&mut self, due_ns: u64) -> Result<(), Gone> {
        let mut line = std::mem::take(&mut self.next);
        let sent_ns = now_ns();
        self.write_line(&mut line, sent_ns, "")?;
        let record = &mut self.record;
        if record.tokens == 0 {
            record.first_due_ns = due_ns as i64;
            record.first_sent_ns = sent_ns as i64;
        }
        record.last_sent_ns = sent_ns as i64;
        let piece = &self.call.pieces[self.sent];
        let error_ns = sent_ns as i64 - due_ns as i64;
        record.sent_ns.extend(std::iter::repeat_n(sent_ns as i64, piece.tokens));
        record.pacing_error_ns.extend(std::iter::repeat_n(error_ns, piece.tokens));
        record.tokens += piece.tokens;
        if piece.is_thought {
            self.thought_tokens += piece.tokens;
        } else {
            self.hash.update(piece.text.as_bytes());
        }
        self.sent += 1;
        self.render_next();
        Ok(())
    }

    /// What follows the last token: the `done` line, or what a fault puts in its place.
    pub(crate) fn send_ending(&mut self) -> Result<(), Gone> {
        self.ended_ns = Some(now_ns());
        match self.call.fault {
            Some(FaultKind::Stall | FaultKind::Reset) => Ok(()),
            Some(FaultKind::NeverDone) => self.write_ending(""),
            Some(FaultKind::BrokenJson) => {
                let open = self.call.wire.speech.brackets().open;
                self.write_ending(&format!("{open}\"model\":\"broken\",\"respon\n"))
            }
            Some(FaultKind::ErrorLine) => {
                let speech = self.call.wire.speech;
                let error = speech.error("the model runner has stopped (a fault)").to_string();
                let keys = &error[1..error.len() - 1];
                let Brackets { open, close } = speech.brackets();
                self.write_ending(&format!("{open}{keys}{close}"))
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

    /// The client has closed its side, or is gone.
    pub(crate) fn note_left(&mut self) {
        if self.record.left_ns == NEVER {
            self.record.left_ns = now_ns() as i64;
        }
    }

    /// What the ledger says of this call, at its end or in the middle.
    pub(crate) fn record(&self) -> CallRecord {
        let complete = self.record.done_sent_ns != NEVER && self.is_over();
        CallRecord { text_hash: self.hash.digest() as i64, complete, ..self.record.clone() }
    }

    /// Its `created_at` is the time of rendering, one step ahead; `sent_ns` is the one to trust.
    fn render_next(&mut self) {
        let Some(piece) = self.call.pieces.get(self.sent) else { return };
        let fields = self.call.wire.piece(piece, self.sent == 0);
        self.next = Line::render(&self.head(), self.call.wire.speech.brackets(), &fields, b"");
    }

    fn account(&self) -> Account {
        let record = &self.record;
        let first_ns = record.first_sent_ns.max(record.received_ns);
        Account {
            is_cut: record.tokens >= self.call.asked_tokens,
            total_ns: now_ns() as i64 - record.received_ns,
            prompt_tokens: self.call.prompt_tokens,
            prompt_ns: first_ns - record.received_ns,
            tokens: record.tokens,
            thought_tokens: self.thought_tokens,
            eval_ns: record.last_sent_ns.max(first_ns) - first_ns,
        }
    }

    fn send_done(&mut self) -> Result<(), Gone> {
        let account = self.account();
        let brackets = self.call.wire.speech.brackets();
        let sent_ns = if self.call.framing == Framing::Whole {
            let fields = self.call.wire.whole(&self.call.pieces[..self.sent], &account);
            let sent_ns = now_ns();
            let body = format!("{{{fields},\"sent_ns\":{sent_ns}}}");
            self.write(&response("200 OK", JSON, &body))?;
            sent_ns
        } else {
            if let Some(fields) = self.call.wire.tool_call() {
                let mut line = Line::render(&self.head(), brackets, &fields, b"");
                self.write_line(&mut line, now_ns(), "")?;
            }
            let after = self.call.wire.after_done(&account);
            let fields = self.call.wire.done(&account);
            let tail = [&chunk(&after)[..], END_OF_BODY].concat();
            let mut line = Line::render(&self.head(), brackets, &fields, &tail);
            let sent_ns = now_ns();
            self.write_line(&mut line, sent_ns, &after)?;
            sent_ns
        };
        self.record.done_sent_ns = sent_ns as i64;
        Ok(())
    }

    fn write_ending(&mut self, line: &str) -> Result<(), Gone> {
        if self.call.framing == Framing::Whole {
            return self.write(&response("200 OK", JSON, line));
        }
        let mut bytes = self.head();
        match self.call.framing {
            Framing::Lines => bytes.extend_from_slice(line.as_bytes()),
            _ => {
                bytes.extend_from_slice(&chunk(line));
                bytes.extend_from_slice(END_OF_BODY);
            }
        }
        self.write(&bytes)
    }

    /// The header travels with the first line, as Ollama's does.
    fn head(&self) -> Vec<u8> {
        let framing = match self.call.framing {
            _ if self.has_head => return Vec::new(),
            // Without chunks the end of the body is the end of the connection.
            Framing::Lines => "Connection: close",
            Framing::Chunks | Framing::Whole => "Transfer-Encoding: chunked",
        };
        let kind = self.call.wire.speech.content_type();
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{framing}\r\n\r\n").into_bytes()
    }

    /// `after` is what follows the line where there are no chunks.
    fn write_line(&mut self, line: &mut Line, sent_ns: u64, after: &str) -> Result<(), Gone> {
        let chunk = line.stamp(sent_ns);
        match self.call.framing {
            Framing::Chunks => self.write(chunk)?,
            Framing::Lines => {
                let head = self.head();
                self.write(&[&head, line.plain(), after.as_bytes()].concat())?;
            }
            // All of it comes with the last one.
            Framing::Whole => {}
        }
        self.has_head = true;
        Ok(())
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
