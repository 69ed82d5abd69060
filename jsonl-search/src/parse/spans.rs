//! The fields as places in the line: the whole line is checked, and nothing is decoded but what
//! somebody looks at.

use super::cursor::{Cursor, Span, decode, each_field, name, text_of};
use super::index::{Quotes, Seen};
use super::{Invalid, Message, Text};

/// A field of the message.
#[derive(Debug, Clone, Copy, Default)]
enum Slot {
    #[default]
    Absent,
    In(Span),
    /// From and to, in the decoded text of fields.
    Decoded(usize, usize),
}

/// The fields of a line.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    kind: Slot,
    role: Slot,
    session: Slot,
    cwd: Slot,
    timestamp: Slot,
    content: Slot,
    summary: Slot,
}

/// What was found in a line, and the memory for it.
#[derive(Debug, Default)]
pub struct Spans {
    found: Found,
    /// The texts of the message's content.
    blocks: Vec<Span>,
    /// Fields that had escapes.
    fields: String,
    /// The message's text, where it had escapes or several pieces.
    text: String,
    quotes: Quotes,
}

impl Spans {
    /// Calls `then` with the line's message.
    ///
    /// # Errors
    /// Where the line is none.
    pub fn with_message<R>(
        &mut self,
        line: &[u8],
        then: impl FnOnce(&mut Message<'_>) -> R,
    ) -> Result<R, Invalid> {
        let line = self.parse(line)?;
        let mut found = self.found;
        let Found { kind, role, session, cwd, timestamp, .. } = &mut found;
        for slot in [kind, role, session, cwd, timestamp] {
            if let Slot::In(span) = *slot
                && span.escaped
            {
                let from = self.fields.len();
                decode(&line[span.start..span.end], &mut self.fields);
                *slot = Slot::Decoded(from, self.fields.len());
            }
        }
        if self.blocks.is_empty() {
            self.blocks.extend(found.content.span().or(found.summary.span()));
        }
        let fields = &self.fields;
        let field = |slot: Slot| match slot {
            Slot::Absent => None,
            Slot::In(span) => Some(&line[span.start..span.end]),
            Slot::Decoded(from, to) => Some(&fields[from..to]),
        };
        let Found { kind, role, session, cwd, timestamp, .. } = found;
        let (kind, role, session) = (field(kind), field(role), field(session));
        let (cwd, timestamp) = (field(cwd), field(timestamp));
        let text = Text::of(line, &self.blocks, &mut self.text);
        Ok(then(&mut Message { kind, role, session, cwd, timestamp, text }))
    }
}

impl Spans {
    fn parse<'l>(&mut self, line: &'l [u8]) -> Result<&'l str, Invalid> {
        let mut quotes = std::mem::take(&mut self.quotes);
        let Self { blocks, fields, .. } = self;
        blocks.clear();
        fields.clear();
        self.found = Found::default();
        let seen = quotes.read(line);
        let parsed = text_of(line, seen).and_then(|text| {
            let quotes = (seen != Seen::Nothing).then_some(&quotes);
            self.line(text, Cursor::new(line, quotes)).map(|()| text)
        });
        self.quotes = quotes;
        parsed
    }

    fn line(&mut self, line: &str, mut cursor: Cursor<'_>) -> Result<(), Invalid> {
        each_field(&mut cursor, |cursor, key| {
            let slot = match &*name(line, key) {
                b"type" => &mut self.found.kind,
                b"sessionId" => &mut self.found.session,
                b"cwd" => &mut self.found.cwd,
                b"timestamp" => &mut self.found.timestamp,
                b"content" => &mut self.found.content,
                b"summary" => &mut self.found.summary,
                b"message" => return self.message(line, cursor),
                _ => return cursor.skip(1),
            };
            *slot = text(cursor, 1)?;
            Ok(())
        })?;
        cursor.skip_space();
        if cursor.at == line.len() { Ok(()) } else { Err(Invalid) }
    }

    fn message(&mut self, line: &str, cursor: &mut Cursor<'_>) -> Result<(), Invalid> {
        self.found.role = Slot::Absent;
        self.blocks.clear();
        cursor.skip_space();
        if cursor.peek() != Some(b'{') {
            return cursor.skip(1);
        }
        each_field(cursor, |cursor, key| match &*name(line, key) {
            b"role" => {
                self.found.role = text(cursor, 2)?;
                Ok(())
            }
            b"content" => self.content(line, cursor),
            _ => cursor.skip(2),
        })
    }

    fn content(&mut self, line: &str, cursor: &mut Cursor<'_>) -> Result<(), Invalid> {
        self.blocks.clear();
        cursor.skip_space();
        if cursor.peek() != Some(b'[') {
            self.blocks.extend(text(cursor, 2)?.span());
            return Ok(());
        }
        cursor.at += 1;
        if cursor.take(b']') {
            return Ok(());
        }
        loop {
            self.block(line, cursor)?;
            if !cursor.take(b',') {
                return cursor.expect(b']');
            }
        }
    }

    fn block(&mut self, line: &str, cursor: &mut Cursor<'_>) -> Result<(), Invalid> {
        cursor.skip_space();
        if cursor.peek() != Some(b'{') {
            return cursor.skip(3);
        }
        let mut block = Slot::Absent;
        each_field(cursor, |cursor, key| {
            if &*name(line, key) != b"text" {
                return cursor.skip(4);
            }
            block = text(cursor, 4)?;
            Ok(())
        })?;
        self.blocks.extend(block.span());
        Ok(())
    }
}

impl Slot {
    fn span(self) -> Option<Span> {
        match self {
            Self::In(span) => Some(span),
            Self::Absent | Self::Decoded(..) => None,
        }
    }
}

/// A string, or any other value, which is no text.
fn text(cursor: &mut Cursor<'_>, depth: u32) -> Result<Slot, Invalid> {
    cursor.skip_space();
    match cursor.peek() {
        Some(b'"') => Ok(Slot::In(cursor.string()?)),
        _ => cursor.skip(depth).map(|()| Slot::Absent),
    }
}
