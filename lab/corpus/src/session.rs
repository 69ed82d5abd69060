//! One chat session, line by line, with the fields of Claude Code's session logs.

use crate::kind::Kind;
use crate::needles::{Due, NEEDLES};
use crate::random::{Random, Stream};
use crate::text::{self, Prose};
use crate::words::Words;
use crate::{Plan, log, time};

/// Folders that people work in. A session belongs to one of them.
const PROJECTS: [&str; 8] =
    ["parser", "website", "ledger", "scheduler", "notebook", "firmware", "renderer", "mailer"];

const TOOLS: [&str; 6] = ["Bash", "Read", "Edit", "Grep", "Write", "TodoWrite"];

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The person's words, as a string.
    User,
    /// What a tool gave back, and a word to it, as blocks.
    ToolResult,
    /// The assistant's words, as a block.
    Assistant,
    /// The assistant's words and the call of a tool, as blocks.
    ToolUse,
}

/// Writes the lines of one session, which is one file.
pub(crate) struct Session {
    pub(crate) random: Random,
    kind: Kind,
    project: &'static str,
    session_id: [u8; 36],
    parent: Option<[u8; 36]>,
    time_ms: u64,
}

impl Session {
    pub(crate) fn new(plan: &Plan, file: u64) -> Self {
        Self::from_random(Random::new(plan.seed, Stream::Session(file)), plan.kind)
    }

    pub(crate) fn from_random(mut random: Random, kind: Kind) -> Self {
        Self {
            kind,
            project: random.pick(&PROJECTS),
            session_id: uuid(&mut random),
            parent: None,
            time_ms: time::START_MS + random.below(120 * time::DAY_MS),
            random,
        }
    }

    /// The file's path within the corpus, as Claude Code lays sessions out.
    pub(crate) fn path(&self) -> String {
        let id = String::from_utf8_lossy(&self.session_id);
        format!("projects/-srv-dev-{}/{id}.jsonl", self.project)
    }

    /// Appends a line without a message, or nothing where none is due. It has no needle.
    pub(crate) fn aside(&mut self, words: &Words, out: &mut Vec<u8>) -> bool {
        if self.kind == Kind::Logs {
            return false;
        }
        if self.parent.is_none() && self.random.once_in(4) {
            out.extend_from_slice(br#"{"type":"summary","summary":""#);
            words.append(6, &mut self.random, out);
            out.extend_from_slice(br#"","leafUuid":""#);
            out.extend_from_slice(&uuid(&mut self.random));
            out.extend_from_slice(b"\"}\n");
            return true;
        }
        if self.parent.is_none() || !self.random.once_in(64) {
            return false;
        }
        self.open(&Due::default(), out);
        out.extend_from_slice(br#","type":"system","content":""#);
        words.append(9, &mut self.random, out);
        out.extend_from_slice(br#"","isMeta":false,"level":"info""#);
        self.close(out);
        out.push(b'\n');
        true
    }

    /// Appends a message with what is due in it, and the end of the line.
    pub(crate) fn message(&mut self, due: &Due, words: &Words, out: &mut Vec<u8>) {
        if self.kind == Kind::Logs {
            self.time_ms += self.random.below(2_000);
            log::append(self.time_ms, due, words, &mut self.random, out);
            return out.push(b'\n');
        }
        let turns = [Turn::User, Turn::ToolResult, Turn::Assistant, Turn::ToolUse];
        let turn = turns[self.random.below(4) as usize];
        self.open(due, out);
        match turn {
            Turn::User | Turn::ToolResult => {
                out.extend_from_slice(br#","type":"user","message":{"role":"user","content":"#);
            }
            Turn::Assistant | Turn::ToolUse => {
                out.extend_from_slice(br#","type":"assistant","message":{"id":"msg_"#);
                hexadecimal(self.random.bits(), 16, out);
                out.extend_from_slice(br#"","type":"message","role":"assistant","#);
                out.extend_from_slice(br#""model":"sonnet-4-20250514","content":"#);
            }
        }
        self.content(turn, due, words, out);
        if matches!(turn, Turn::Assistant | Turn::ToolUse) {
            out.extend_from_slice(br#","stop_reason":null,"usage":{"input_tokens":"#);
            text::number(self.random.below(20_000), out);
            out.extend_from_slice(br#","output_tokens":"#);
            text::number(self.random.below(2_000), out);
            out.push(b'}');
        }
        out.push(b'}');
        self.close(out);
        out.push(b'\n');
    }

    /// Appends a person's message with this JSON value as its content, and the end of the line.
    pub(crate) fn given(&mut self, content: &[u8], out: &mut Vec<u8>) {
        self.open(&Due::default(), out);
        out.extend_from_slice(br#","type":"user","message":{"role":"user","content":"#);
        out.extend_from_slice(content);
        out.push(b'}');
        self.close(out);
        out.push(b'\n');
    }

    fn content(&mut self, turn: Turn, due: &Due, words: &Words, out: &mut Vec<u8>) {
        let sentences = self.kind.sentences(&mut self.random);
        match turn {
            Turn::User => {
                out.push(b'"');
                self.prose(words).append(sentences, due, out);
                out.push(b'"');
            }
            Turn::ToolResult => {
                out.extend_from_slice(br#"[{"tool_use_id":"toolu_"#);
                hexadecimal(self.random.bits(), 16, out);
                out.extend_from_slice(br#"","type":"tool_result","content":""#);
                self.prose(words).code(2 * sentences, out);
                self.text_block(b"\"},", 1, due, words, out);
                out.push(b']');
            }
            Turn::Assistant => {
                self.text_block(b"[", sentences, due, words, out);
                out.push(b']');
            }
            Turn::ToolUse => {
                self.text_block(
                    b"[",
                    sentences.min(self.kind.sentences_beside_tool()),
                    due,
                    words,
                    out,
                );
                out.extend_from_slice(br#",{"type":"tool_use","id":"toolu_"#);
                hexadecimal(self.random.bits(), 16, out);
                out.extend_from_slice(br#"","name":""#);
                out.extend_from_slice(self.random.pick(&TOOLS).as_bytes());
                out.extend_from_slice(br#"","input":{"command":""#);
                self.prose(words).code(1, out);
                out.extend_from_slice(b"\"}}]");
            }
        }
    }

    fn prose<'a>(&'a mut self, words: &'a Words) -> Prose<'a> {
        Prose { kind: self.kind, ..Prose::new(words, &mut self.random) }
    }

    fn text_block(
        &mut self,
        before: &[u8],
        sentences: u64,
        due: &Due,
        words: &Words,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(before);
        out.extend_from_slice(br#"{"type":"text","text":""#);
        self.prose(words).append(sentences, due, out);
        out.extend_from_slice(b"\"}");
    }

    /// What stands before the message, beginning the line.
    fn open(&mut self, due: &Due, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"parentUuid":"#);
        match &self.parent {
            Some(parent) => quoted(parent, out),
            None => out.extend_from_slice(b"null"),
        }
        let side = self.random.once_in(32);
        out.extend_from_slice(br#","isSidechain":"#);
        out.extend_from_slice(if side { b"true" } else { b"false" });
        out.extend_from_slice(br#","userType":"external","cwd":"/srv/dev/"#);
        out.extend_from_slice(self.project.as_bytes());
        out.extend_from_slice(if self.random.once_in(8) { b"/src" } else { b"" });
        out.extend_from_slice(br#"","sessionId":"#);
        quoted(&self.session_id, out);
        out.extend_from_slice(br#","version":"1.0.65","gitBranch":"main"#);
        for (needle, _) in NEEDLES.iter().zip(due.decoy).filter(|(_, due)| *due) {
            out.push(b'-');
            out.extend_from_slice(needle.word.as_bytes());
        }
        out.push(b'"');
    }

    /// What stands after the message, except for the end of the line.
    fn close(&mut self, out: &mut Vec<u8>) {
        let id = uuid(&mut self.random);
        self.parent = Some(id);
        self.time_ms += self.random.below(90_000);
        out.extend_from_slice(br#","uuid":"#);
        quoted(&id, out);
        out.extend_from_slice(br#","timestamp":""#);
        time::append(self.time_ms, out);
        out.extend_from_slice(b"\"}");
    }
}

fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

/// A random UUID of version 4 (RFC 9562, 5.4) in its usual spelling.
fn uuid(random: &mut Random) -> [u8; 36] {
    let mut digits = Vec::with_capacity(32);
    hexadecimal(random.bits(), 16, &mut digits);
    hexadecimal(random.bits(), 16, &mut digits);
    digits[12] = b'4';
    digits[16] = b'a';
    let mut text = [b'-'; 36];
    for (to, from) in [(0..8, 0..8), (9..13, 8..12), (14..18, 12..16), (19..23, 16..20)] {
        text[to].copy_from_slice(&digits[from]);
    }
    text[24..].copy_from_slice(&digits[20..]);
    text
}

fn hexadecimal(number: u64, width: u32, out: &mut Vec<u8>) {
    let digit = |place: u32| b"0123456789abcdef"[(number >> (4 * place) & 15) as usize];
    out.extend((0..width).rev().map(digit));
}
