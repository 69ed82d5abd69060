//! A line's messages as coding agents and chat servers write them, and where each has text.
//!
//! No two of them have the same shape, so keys say what a string is, wherever it stands: what
//! somebody said, what a tool was given or printed, or what a model thought. A part's or record's
//! own `type` and `role` decide over its keys: the `content` of a `tool_result` is a tool's.

use super::cursor::{Cursor, Span, decode, text_of};
use super::index::{Quotes, Seen};
use super::repair::Repaired;
use super::shapes::At;
use super::{Invalid, Message, Parse, Part, Text};
use crate::Time;

/// JSON is looked for in strings of JSON so many times.
const LEVELS: u32 = 3;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What somebody said.
    Text = 1,
    /// What a tool was given, or gave.
    Tools = 2,
    /// What a model thought.
    Thinking = 4,
}

/// Which kinds of text are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope(pub(crate) u8);

impl Scope {
    pub(crate) const ALL: Self = Self(7);

    pub(crate) const fn of(kind: Kind) -> Self {
        Self(kind as u8)
    }

    fn has(self, kind: Kind) -> bool {
        self.0 & kind as u8 != 0
    }
}

/// A field of a message, and how deep it stands: of several the outermost counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) span: Span,
    pub(super) depth: u32,
}

/// A message that is still read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Draft {
    pub(super) kind: Option<Field>,
    /// Of what the record holds, which says more.
    pub(super) inner_kind: Option<Field>,
    pub(super) role: Option<Field>,
    pub(super) session: Option<Field>,
    pub(super) cwd: Option<Field>,
    pub(super) timestamp: Option<Field>,
}

/// A text of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) span: Span,
    pub(super) kind: Kind,
    /// Whose it is.
    pub(super) draft: usize,
    /// Of what may be JSON itself, whether all of its keys are a tool's own.
    pub(super) inner: Option<bool>,
}

/// What was found in a line, and the memory for it.
#[derive(Debug)]
pub(crate) struct Records {
    pub(super) scope: Scope,
    pub(super) drafts: Vec<Draft>,
    pub(super) pieces: Vec<Piece>,
    pub(super) blocks: Vec<Span>,
    /// Fields that had escapes.
    pub(super) fields: String,
    /// A message's text, where it had escapes or several pieces.
    pub(super) text: String,
    pub(super) quotes: Quotes,
    pub(super) repaired: Repaired,
}

impl Parse for Records {
    fn each_message(
        &mut self,
        line: &[u8],
        mut then: impl FnMut(&mut Message<'_>, Part),
    ) -> Result<(), Invalid> {
        self.repaired.left_over.clear();
        let mut number = 0;
        let mut each = |message: &mut Message<'_>| {
            then(message, Part { number, repaired: false });
            number += 1;
        };
        if self.strict(line, &mut each).is_ok() {
            return Ok(());
        }
        self.repair(line, then)
    }

    fn left_over(&self) -> &str {
        &self.repaired.left_over
    }
}

impl Records {
    pub(crate) fn new(scope: Scope) -> Self {
        Self {
            scope,
            drafts: Vec::new(),
            pieces: Vec::new(),
            blocks: Vec::new(),
            fields: String::new(),
            text: String::new(),
            quotes: Quotes::default(),
            repaired: Repaired::default(),
        }
    }

    #[cold]
    fn repair(
        &mut self,
        line: &[u8],
        mut then: impl FnMut(&mut Message<'_>, Part),
    ) -> Result<(), Invalid> {
        let mut repaired = std::mem::take(&mut self.repaired);
        repaired.read(line);
        let (mut number, mut start, mut read) = (0, 0, Err(Invalid));
        for &end in &repaired.ends {
            let record = &repaired.json.as_bytes()[start..end];
            read = read.or(self.strict(record, &mut |message: &mut Message<'_>| {
                then(message, Part { number, repaired: true });
                number += 1;
            }));
            start = end;
        }
        self.repaired = repaired;
        read
    }

    fn strict(
        &mut self,
        line: &[u8],
        then: &mut impl FnMut(&mut Message<'_>),
    ) -> Result<(), Invalid> {
        let line = self.parse(line)?;
        let inherited = self.drafts[0];
        let is_one = self.drafts.len() == 1;
        for number in 0..self.drafts.len() {
            let draft = self.drafts[number];
            let (mut has_text, mut unfolds) = (false, false);
            self.blocks.clear();
            for piece in self.pieces.iter().filter(|piece| piece.draft == number) {
                has_text = true;
                if self.scope.has(piece.kind) {
                    self.blocks.push(piece.span);
                    unfolds |= piece.inner.is_some();
                }
            }
            // What holds messages is one itself only where it has text of its own.
            if !is_one && number == 0 && !has_text {
                continue;
            }
            let is_unfolded = unfolds && self.unfold(line, number);
            self.message(line, draft, inherited, is_unfolded, then);
        }
        Ok(())
    }

    fn message(
        &mut self,
        line: &str,
        draft: Draft,
        inherited: Draft,
        is_unfolded: bool,
        then: &mut impl FnMut(&mut Message<'_>),
    ) {
        let Self { fields, blocks, text, .. } = self;
        fields.clear();
        let timestamp = draft.timestamp.or(inherited.timestamp);
        let mut places = [
            draft.inner_kind.or(draft.kind),
            draft.role,
            draft.session.or(inherited.session),
            draft.cwd.or(inherited.cwd),
            timestamp,
        ];
        for Field { span, .. } in places.iter_mut().flatten() {
            let from = fields.len();
            if span.escaped {
                decode(&line[span.start..span.end], fields);
                (span.start, span.end) = (from, fields.len());
            }
        }
        if let Some(Field { span, .. }) = &mut places[4]
            && let Some(time) = unix_time(line, *span)
        {
            let from = fields.len();
            fields.push_str(&time.to_string());
            *span = Span { start: from, end: fields.len(), escaped: true };
        }
        let [kind, role, session, cwd, timestamp] = places.map(|field| read(line, field, fields));
        let text = match is_unfolded {
            true => Text::Whole(text),
            false => Text::of(line, blocks, text),
        };
        then(&mut Message { kind, role, session, cwd, timestamp, text });
    }

    /// Makes the text of a message in which a string is JSON itself: what a tool was given, or
    /// gave. False where none is.
    #[cold]
    fn unfold(&mut self, line: &str, draft: usize) -> bool {
        let (mut texts, mut has_inner) = (Vec::new(), false);
        let pieces: Vec<_> =
            self.pieces.iter().filter(|piece| piece.draft == draft).copied().collect();
        for Piece { span, kind, inner, .. } in pieces {
            if !self.scope.has(kind) {
                continue;
            }
            let mut text = String::new();
            decode(&line[span.start..span.end], &mut text);
            match inner.map(|all| self.inside(&text, all, LEVELS)) {
                Some(Ok(inside)) => {
                    has_inner = true;
                    texts.extend(inside);
                }
                None | Some(Err(Invalid)) => texts.push(text),
            }
        }
        self.text = texts.join("\n");
        has_inner
    }

    /// The texts of JSON that was a string, and of such JSON in it.
    fn inside(&mut self, json: &str, all: bool, levels: u32) -> Result<Vec<String>, Invalid> {
        let first = self.pieces.len();
        let mut cursor = Cursor::new(json.as_bytes(), None);
        let at = At { depth: 0, draft: usize::MAX, is_part: true, is_inner: false };
        let read = self.deep(json, &mut cursor, Kind::Tools, all, at);
        cursor.skip_space();
        let is_whole = read.is_ok() && cursor.at == json.len();
        let pieces: Vec<_> = self.pieces.drain(first..).collect();
        if !is_whole {
            return Err(Invalid);
        }
        let mut texts = Vec::new();
        for Piece { span, inner, .. } in pieces {
            let mut text = String::new();
            decode(&json[span.start..span.end], &mut text);
            match inner.filter(|_| levels > 0).map(|all| self.inside(&text, all, levels - 1)) {
                Some(Ok(inside)) => texts.extend(inside),
                None | Some(Err(Invalid)) => texts.push(text),
            }
        }
        Ok(texts)
    }

    fn parse<'l>(&mut self, line: &'l [u8]) -> Result<&'l str, Invalid> {
        self.drafts.clear();
        self.drafts.push(Draft::default());
        self.pieces.clear();
        let mut quotes = std::mem::take(&mut self.quotes);
        let seen = quotes.read(line);
        let parsed = text_of(line, seen).and_then(|text| {
            let quotes = (seen != Seen::Nothing).then_some(&quotes);
            let mut cursor = Cursor::new(line, quotes);
            let at = At { depth: 0, draft: 0, is_part: false, is_inner: false };
            self.object(text, &mut cursor, at)?;
            cursor.skip_space();
            if cursor.at == line.len() { Ok(text) } else { Err(Invalid) }
        });
        self.quotes = quotes;
        parsed
    }
}

/// The time that a number of seconds or milliseconds since 1970 means.
fn unix_time(line: &str, span: Span) -> Option<Time> {
    let is_number = !span.escaped
        && line.as_bytes()[span.start].is_ascii_digit()
        && span.start.checked_sub(1).is_some_and(|before| line.as_bytes()[before] != b'"');
    if !is_number {
        return None;
    }
    Time::of_unix(&line[span.start..span.end])
}

/// A field's text: as the line has it, or out of memory where it was made.
fn read<'a>(line: &'a str, field: Option<Field>, memory: &'a str) -> Option<&'a str> {
    let span = field?.span;
    Some(if span.escaped { &memory[span.start..span.end] } else { &line[span.start..span.end] })
}
