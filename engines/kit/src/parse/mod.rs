//! A line as a message, by the parser that the workload names.
//!
//! A line is a message if it is one JSON object that `serde_json` reads as a `Value`: UTF-8
//! throughout, no lone surrogate, no number beyond `f64`, at most 127 levels deep. The parsers
//! differ in what they skip unseen, so the two lazy ones are made to look at every value (see
//! `fields::Skip`), and all find the same lines invalid. Of a key that comes twice the last
//! one counts.

mod cursor;
mod fields;
mod indent;
mod index;
mod spans;
mod text;
mod whole;

pub(crate) use cursor::{unicode_escape, unit};
use fields::Draft;
use lab_protocol::engines::Parser;
use serde::de::DeserializeSeed;
use spans::Spans;
pub(crate) use text::Text;

use crate::Time;

/// What a query looks at.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// `type`.
    pub(crate) kind: Option<&'a str>,
    /// `message.role`.
    pub(crate) role: Option<&'a str>,
    /// `sessionId`.
    pub(crate) session: Option<&'a str>,
    /// `cwd`.
    pub(crate) cwd: Option<&'a str>,
    /// `timestamp`.
    pub(crate) timestamp: Option<&'a str>,
    /// `message.content`, or the `text` of its blocks in lines of their own; where there is no
    /// content, the line's own `content` or else its `summary`.
    pub(crate) text: Text<'a>,
}

impl Message<'_> {
    /// When it was written; `None` where it does not say, or not as RFC 3339 wants it.
    pub(crate) fn time(&self) -> Option<Time> {
        self.timestamp.and_then(Time::parse)
    }
}

/// The line is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Invalid;

/// Memory that lines are parsed in, kept from line to line.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Strings that had escapes or several pieces.
    text: String,
    /// simd-json parses in place, and one way of serde_json's is to have a copy.
    line: Vec<u8>,
    simd: simd_json::Buffers,
    spans: Spans,
}

/// Calls `then` with the line's message.
pub(crate) fn with_message<R>(
    parser: Parser,
    line: &[u8],
    scratch: &mut Scratch,
    then: impl FnOnce(&mut Message<'_>) -> R,
) -> Result<R, Invalid> {
    let Scratch { text, line: copy, simd, spans } = scratch;
    text.clear();
    if parser == Parser::Spans {
        return spans.with_message(line, text, then);
    }
    let mut draft = Draft::new(text);
    match parser {
        Parser::Spans => unreachable!("it drafts nothing"),
        Parser::SerdeLazy => {
            let mut deserializer = serde_json::Deserializer::from_slice(line);
            draft.deserialize(&mut deserializer).map_err(|_| Invalid)?;
            deserializer.end().map_err(|_| Invalid)?;
        }
        Parser::SerdeCopied => {
            copy.clear();
            copy.extend_from_slice(line);
            let mut deserializer = serde_json::Deserializer::from_slice(copy);
            draft.deserialize(&mut deserializer).map_err(|_| Invalid)?;
            deserializer.end().map_err(|_| Invalid)?;
            return Ok(copied(draft.message(), then));
        }
        Parser::SerdeWhole => {
            let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| Invalid)?;
            return whole::message(&value, text, then).ok_or(Invalid);
        }
        Parser::Sonic => {
            // What sonic-rs skips it does not look at, so it cannot say whether it is UTF-8.
            let line = std::str::from_utf8(line).map_err(|_| Invalid)?;
            let mut deserializer = sonic_rs::Deserializer::from_str(line);
            draft.deserialize(&mut deserializer).map_err(|_| Invalid)?;
            deserializer.end().map_err(|_| Invalid)?;
        }
        Parser::Simd => {
            copy.clear();
            copy.extend_from_slice(line);
            let deserializer = simd_json::Deserializer::from_slice_with_buffers(copy, simd);
            let mut deserializer = deserializer.map_err(|_| Invalid)?;
            draft.deserialize(&mut deserializer).map_err(|_| Invalid)?;
            return Ok(then(&mut draft.message()));
        }
    }
    Ok(then(&mut draft.message()))
}

/// The message with every field in memory of its own, as where a line is read into structs.
fn copied<R>(mut message: Message<'_>, then: impl FnOnce(&mut Message<'_>) -> R) -> R {
    let own = |field: Option<&str>| field.map(str::to_owned);
    let (kind, role) = (own(message.kind), own(message.role));
    let (session, cwd) = (own(message.session), own(message.cwd));
    let (timestamp, text) = (own(message.timestamp), message.text.whole().to_owned());
    then(&mut Message {
        kind: kind.as_deref(),
        role: role.as_deref(),
        session: session.as_deref(),
        cwd: cwd.as_deref(),
        timestamp: timestamp.as_deref(),
        text: Text::Whole(&text),
    })
}

trait DeserializeDraft<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(&mut self, deserializer: D)
    -> Result<(), D::Error>;
}

impl<'de> DeserializeDraft<'de> for Draft<'de, '_> {
    fn deserialize<D: serde::Deserializer<'de>>(
        &mut self,
        deserializer: D,
    ) -> Result<(), D::Error> {
        fields::Root(self).deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests;
