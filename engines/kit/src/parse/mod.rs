//! A line as a message, by the parser that the workload names.
//!
//! The parsers differ in what they skip unseen, so the two lazy ones are made to look at every
//! value (see `fields::Skip`), and all find the same lines invalid as `jsonl_search` does.

mod fields;
mod whole;

use fields::Draft;
use jsonl_search::{Invalid, Message, Parse, Part, Spans, Text};
use lab_protocol::engines::Parser;
use serde::de::DeserializeSeed;

/// All parsers, one of which is used, and memory that lines are parsed in, kept from line to line.
pub struct Parsers {
    parser: Parser,
    /// Strings that had escapes or several pieces.
    text: String,
    /// simd-json parses in place, and one way of serde_json's is to have a copy.
    line: Vec<u8>,
    simd: simd_json::Buffers,
    spans: Spans,
}

impl Parsers {
    pub(crate) fn new(parser: Parser) -> Self {
        Self {
            parser,
            text: String::new(),
            line: Vec::new(),
            simd: simd_json::Buffers::default(),
            spans: Spans::default(),
        }
    }
}

impl Parse for Parsers {
    fn each_message(
        &mut self,
        line: &[u8],
        mut then: impl FnMut(&mut Message<'_>, Part),
    ) -> Result<(), Invalid> {
        self.with_message(line, |message| then(message, Part::default()))
    }
}

impl Parsers {
    fn with_message<R>(
        &mut self,
        line: &[u8],
        then: impl FnOnce(&mut Message<'_>) -> R,
    ) -> Result<R, Invalid> {
        let Self { parser, text, line: copy, simd, spans } = self;
        text.clear();
        let mut draft = Draft::new(text);
        match parser {
            Parser::Spans => return spans.with_message(line, then),
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
            }
        }
        Ok(then(&mut draft.message()))
    }
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
