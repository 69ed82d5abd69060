//! A message as a person is shown it: made where it is found, written where the order is known.

mod escape;
mod paint;

use std::borrow::Cow;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::Query;
use crate::parse::{Message, Part};
pub(crate) use escape::json;
use paint::Colour;

/// What is written, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) output: Output,
    /// Whether control characters of messages and names are spelled out, for a terminal obeys them.
    pub(crate) escapes: bool,
    pub(crate) colours: bool,
    /// Whether a path is a link to its file.
    pub(crate) links: bool,
    /// Whether lines' numbers are shown.
    pub(crate) numbers: bool,
}

/// How messages are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For the eye
    Text,
    /// One object
    Json,
    /// An object per message and line
    Jsonl,
}

/// Where a message is, and why it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Of its line, in bytes.
    pub(crate) offset: u64,
    pub(crate) part: Part,
    /// Whether it stands beside one that matches.
    pub(crate) is_context: bool,
}

/// A message without the path of its file, which whoever reads the line does not know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rendered<T> {
    pub(crate) bytes: T,
    /// Bytes before the path.
    pub(crate) before: usize,
}

/// What is known of a message's place where it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    /// Of its line, from 1, where that is asked for.
    pub(crate) line: Option<u64>,
    pub(crate) is_context: bool,
}

/// What stands behind the path.
#[derive(Serialize)]
struct Fields<'a> {
    /// Of its line, in bytes.
    offset_bytes: u64,
    timestamp: Option<&'a str>,
    role: Option<&'a str>,
    session: Option<&'a str>,
    project: Option<&'a str>,
    /// Whether the line was no JSON before it was repaired.
    repaired: bool,
    /// Whether it stands beside one that matches.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    context: bool,
    text: &'a str,
}

impl Style {
    /// What is not coloured and is shown to whoever reads standard error.
    pub(crate) fn plain(escapes: bool) -> Self {
        Self { output: Output::Text, escapes, colours: false, links: false, numbers: false }
    }

    /// The message, with marks where it has what is looked for, in the memory of others before it.
    pub(crate) fn render<'m>(
        self,
        place: Place,
        message: &mut Message<'_>,
        query: Option<&Query>,
        bytes: &'m mut Vec<u8>,
    ) -> Rendered<&'m [u8]> {
        bytes.clear();
        let before = match self.output {
            Output::Text => self.render_text(place, message, query, bytes),
            Output::Json | Output::Jsonl => {
                let fields = Fields {
                    offset_bytes: place.offset,
                    timestamp: message.timestamp,
                    role: message.role.or(message.kind),
                    session: message.session,
                    project: message.cwd,
                    repaired: place.part.repaired,
                    context: place.is_context,
                    text: message.text.whole(),
                };
                bytes.extend_from_slice(json(&fields).as_bytes());
                // The path takes the place of the brace.
                bytes[0] = b',';
                0
            }
        };
        Rendered { bytes, before }
    }

    fn render_text(
        self,
        place: Place,
        message: &mut Message<'_>,
        query: Option<&Query>,
        bytes: &mut Vec<u8>,
    ) -> usize {
        let role = message.role.or(message.kind);
        let fields = [
            (message.timestamp, Colour::Dim),
            (role, Colour::Role),
            (message.session, Colour::Dim),
        ];
        for (field, colour) in fields {
            let field = self.safe(field.unwrap_or("-"));
            self.paint(colour, field.as_bytes(), bytes);
            bytes.push(b' ');
        }
        let before = bytes.len();
        if !self.numbers {
            self.number(place.offset, place.is_context, bytes);
        }
        bytes.extend_from_slice(if place.part.repaired { b" (repaired)\n" } else { b"\n" });
        if self.escapes || self.colours {
            self.lines_of(message.text.whole(), query, bytes);
        } else {
            message.text.indent(bytes);
        }
        before
    }

    /// A text's lines, each behind two spaces.
    fn lines_of(self, text: &str, query: Option<&Query>, bytes: &mut Vec<u8>) {
        let query = query.filter(|_| self.colours);
        let marks = query.map(|query| query.expr.marks(text)).unwrap_or_default();
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
            bytes.extend_from_slice(b"  ");
            let line = whole.lines().next().unwrap_or_default();
            for (part, is_marked) in paint::parts(line, start, &marks) {
                let part = self.safe(part);
                match is_marked {
                    true => Colour::Match.paint(part.as_bytes(), bytes),
                    false => bytes.extend_from_slice(part.as_bytes()),
                }
            }
            bytes.push(b'\n');
            start += whole.len();
        }
    }

    /// The offset or number of a line, behind its path.
    fn number(self, number: u64, is_context: bool, bytes: &mut Vec<u8>) {
        bytes.push(if is_context { b'-' } else { b':' });
        self.paint(Colour::Place, number.to_string().as_bytes(), bytes);
    }

    fn paint(self, colour: Colour, text: &[u8], bytes: &mut Vec<u8>) {
        match self.colours {
            true => colour.paint(text, bytes),
            false => bytes.extend_from_slice(text),
        }
    }

    /// Writes it with its file's path.
    pub(crate) fn write(
        self,
        out: &mut impl Write,
        source: Source<'_>,
        message: Rendered<&[u8]>,
    ) -> io::Result<()> {
        let (before, behind) = message.bytes.split_at(message.before);
        match self.output {
            Output::Text => {
                out.write_all(before)?;
                out.write_all(&self.shown_path(source.path))?;
                if let Some(line) = source.line {
                    let mut number = Vec::new();
                    self.number(line, source.is_context, &mut number);
                    out.write_all(&number)?;
                }
                out.write_all(behind)
            }
            Output::Json | Output::Jsonl => {
                write!(out, "{{{}", path_fields(source.path))?;
                if let Some(line) = source.line {
                    write!(out, ",\"line\":{line}")?;
                }
                out.write_all(behind)?;
                out.write_all(if self.output == Output::Jsonl { b"\n" } else { b"" })
            }
        }
    }

    /// A path as it is shown, with its colour and link.
    pub(crate) fn shown_path(self, path: &Path) -> Cow<'_, [u8]> {
        let shown = self.path(path);
        if !self.colours && !self.links {
            return shown;
        }
        let (mut painted, mut linked) = (Vec::new(), Vec::new());
        self.paint(Colour::Path, &shown, &mut painted);
        if !self.links {
            return painted.into();
        }
        paint::linked(path, &painted, &mut linked);
        linked.into()
    }

    /// A path's bytes, where it is not shown to a terminal that might obey them.
    pub(crate) fn path(self, path: &Path) -> Cow<'_, [u8]> {
        match self.escapes {
            true => escape::path(path),
            false => Cow::Borrowed(path.as_os_str().as_bytes()),
        }
    }

    /// The same of several lines.
    pub(crate) fn lines(self, text: &str) -> String {
        let lines: Vec<_> = text.lines().map(|line| self.safe(line)).collect();
        lines.join("\n")
    }

    /// The same of a text.
    fn safe(self, text: &str) -> Cow<'_, str> {
        if self.escapes { escape::text(text) } else { Cow::Borrowed(text) }
    }
}

/// `"path":"…"`, and, where that is not the name's bytes, these as `"path_hex"`.
pub(crate) fn path_fields(path: &Path) -> String {
    let lossy = format!("\"path\":{}", json(&path.to_string_lossy()));
    match path.to_str() {
        Some(_) => lossy,
        None => {
            let bytes = path.as_os_str().as_bytes().iter();
            let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
            format!("{lossy},\"path_hex\":\"{digits}\"")
        }
    }
}
