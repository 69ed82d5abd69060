//! A line's messages as coding agents and chat servers write them, and where each has text.
//!
//! No two of them have the same shape, so keys say what a string is, wherever it stands: what
//! somebody said, what a tool was given or printed, or what a model thought. A part's or record's
//! own `type` and `role` decide over its keys: the `content` of a `tool_result` is a tool's.

use super::cursor::{Cursor, DEPTH, Span, decode, each_element, each_field, name, text_of};
use super::index::{Quotes, Seen};
use super::keys::{Means, is_no_text};
use super::repair::Repaired;
use super::{Invalid, Message, Parse, Part, Text};
use crate::Time;

/// JSON is looked for in strings of JSON so many times.
const LEVELS: u32 = 3;
/// Among so many texts of a line one that is written twice is found.
const COMPARED: usize = 32;

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
struct Field {
    span: Span,
    depth: u32,
}

/// A message that is still read.
#[derive(Debug, Clone, Copy, Default)]
struct Draft {
    kind: Option<Field>,
    role: Option<Field>,
    session: Option<Field>,
    cwd: Option<Field>,
    timestamp: Option<Field>,
}

/// A text of a line.
#[derive(Debug, Clone, Copy)]
struct Piece {
    span: Span,
    kind: Kind,
    /// Whose it is.
    draft: usize,
    /// Of what may be JSON itself, whether all of its keys are a tool's own.
    inner: Option<bool>,
}

/// What was found in a line, and the memory for it.
#[derive(Debug)]
pub(crate) struct Records {
    scope: Scope,
    drafts: Vec<Draft>,
    pieces: Vec<Piece>,
    blocks: Vec<Span>,
    /// Fields that had escapes.
    fields: String,
    /// A message's text, where it had escapes or several pieces.
    text: String,
    quotes: Quotes,
    repaired: Repaired,
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
            draft.kind,
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

    /// Makes the text of a message in which a string is JSON itself: what a tool was given, or gave.
    /// False where none is.
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

    /// A record, what it wraps, or a part of its content.
    fn object(&mut self, line: &str, cursor: &mut Cursor<'_>, at: At) -> Result<(), Invalid> {
        if at.depth == DEPTH {
            return Err(Invalid);
        }
        let first = self.pieces.len();
        let (mut own, mut tool) = (None, None);
        each_field(cursor, |cursor, key| {
            let key = name(line, key);
            match Means::of(&key) {
                // Most are.
                Means::Nothing => return cursor.skip(at.depth + 1),
                Means::Type => {
                    let Some(span) = string(cursor, at.depth + 1)? else { return Ok(()) };
                    own = own.or(kind_of_type(&line.as_bytes()[span.start..span.end]));
                    self.field(at, |draft| &mut draft.kind, span, at.is_inner);
                }
                Means::Role => {
                    let Some(span) = string(cursor, at.depth + 1)? else { return Ok(()) };
                    let of_tool = line[span.start..span.end].starts_with("tool");
                    own = own.or(of_tool.then_some(Kind::Tools));
                    self.field(at, |draft| &mut draft.role, span, true);
                }
                Means::Thought => {
                    cursor.skip_space();
                    own = own.or((cursor.peek() == Some(b't')).then_some(Kind::Thinking));
                    cursor.skip(at.depth + 1)?;
                }
                Means::Name => {
                    let Some(span) = string(cursor, at.depth + 1)? else { return Ok(()) };
                    tool = Some(self.pieces.len());
                    self.piece(line, span, Kind::Tools, None, at);
                }
                means => return self.value(line, cursor, means, at),
            }
            Ok(())
        })?;
        if let Some(tool) =
            tool.filter(|&tool| own != Some(Kind::Tools) && tool < self.pieces.len())
        {
            self.pieces.remove(tool);
        }
        if let Some(kind) = own {
            let said = self.pieces[first..].iter_mut().filter(|piece| piece.kind == Kind::Text);
            said.for_each(|piece| piece.kind = kind);
        }
        Ok(())
    }

    fn value(
        &mut self,
        line: &str,
        cursor: &mut Cursor<'_>,
        means: Means,
        at: At,
    ) -> Result<(), Invalid> {
        cursor.skip_space();
        let next = cursor.peek();
        let at = At { depth: at.depth + 1, ..at };
        match (means, next) {
            (Means::Session, Some(b'"')) => {
                let span = cursor.string()?;
                self.field(at, |draft| &mut draft.session, span, false);
            }
            (Means::Cwd, Some(b'"')) => {
                let span = cursor.string()?;
                self.field(at, |draft| &mut draft.cwd, span, false);
            }
            (Means::Time, Some(b'"' | b'0'..=b'9')) => {
                let span = time(cursor, at.depth)?;
                self.field(at, |draft| &mut draft.timestamp, span, false);
            }
            (Means::Said | Means::Wraps, Some(b'"')) => {
                let span = cursor.string()?;
                self.piece(line, span, Kind::Text, None, at);
            }
            (Means::Output, Some(b'"')) => {
                let span = cursor.string()?;
                self.piece(line, span, Kind::Tools, Some(false), at);
            }
            (Means::Said | Means::Output, Some(b'{' | b'[')) => {
                self.parts(line, cursor, At { is_part: true, ..at })?;
            }
            (Means::Wraps | Means::Holds, Some(b'{' | b'[')) => {
                let is_inner = means == Means::Holds;
                self.parts(line, cursor, At { is_inner, ..at })?;
            }
            (Means::Messages, Some(b'[')) => self.messages(line, cursor, at)?,
            (Means::Thinking, _) => self.deep(line, cursor, Kind::Thinking, false, at)?,
            (Means::Tool, _) => self.deep(line, cursor, Kind::Tools, false, at)?,
            (Means::Given, _) => self.deep(line, cursor, Kind::Tools, true, at)?,
            _ => cursor.skip(at.depth)?,
        }
        Ok(())
    }

    /// An object, or an array of objects and strings.
    fn parts(&mut self, line: &str, cursor: &mut Cursor<'_>, at: At) -> Result<(), Invalid> {
        if cursor.peek() == Some(b'{') {
            return self.object(line, cursor, at);
        }
        each_element(cursor, at.depth, |cursor| {
            let at = At { depth: at.depth + 1, ..at };
            match cursor.peek() {
                Some(b'{') => self.object(line, cursor, at),
                Some(b'"') if at.is_part => {
                    let span = cursor.string()?;
                    self.piece(line, span, Kind::Text, None, at);
                    Ok(())
                }
                _ => cursor.skip(at.depth),
            }
        })
    }

    /// Messages of their own, which have from the record what they do not say themselves.
    fn messages(&mut self, line: &str, cursor: &mut Cursor<'_>, at: At) -> Result<(), Invalid> {
        each_element(cursor, at.depth, |cursor| {
            if cursor.peek() != Some(b'{') || at.is_part {
                return cursor.skip(at.depth + 1);
            }
            self.drafts.push(Draft::default());
            let draft = self.drafts.len() - 1;
            self.object(line, cursor, At { depth: at.depth + 1, draft, ..at })
        })
    }

    /// Every string below; keys that stand for no text are left out unless all are the tool's own.
    fn deep(
        &mut self,
        line: &str,
        cursor: &mut Cursor<'_>,
        kind: Kind,
        all: bool,
        at: At,
    ) -> Result<(), Invalid> {
        cursor.skip_space();
        match cursor.peek() {
            Some(b'"') => {
                let span = cursor.string()?;
                let inner = (kind == Kind::Tools).then_some(all);
                self.piece(line, span, kind, inner, at);
                Ok(())
            }
            Some(b'{') if at.depth < DEPTH => each_field(cursor, |cursor, key| {
                let key = name(line, key);
                let at = At { depth: at.depth + 1, ..at };
                if !all && is_no_text(&key) {
                    return cursor.skip(at.depth);
                }
                let all = all || Means::of(&key) == Means::Given;
                self.deep(line, cursor, kind, all, at)
            }),
            Some(b'[') => each_element(cursor, at.depth, |cursor| {
                self.deep(line, cursor, kind, all, At { depth: at.depth + 1, ..at })
            }),
            _ => cursor.skip(at.depth),
        }
    }

    /// The outermost of several counts, unless the inner one says more.
    fn field(
        &mut self,
        at: At,
        of: impl Fn(&mut Draft) -> &mut Option<Field>,
        span: Span,
        inner_counts: bool,
    ) {
        if at.is_part {
            return;
        }
        let field = of(&mut self.drafts[at.draft]);
        let counts = |known: Field| match inner_counts {
            true => at.depth >= known.depth,
            false => at.depth <= known.depth,
        };
        if field.is_none_or(counts) {
            *field = Some(Field { span, depth: at.depth });
        }
    }

    fn piece(&mut self, line: &str, span: Span, kind: Kind, inner: Option<bool>, at: At) {
        let text = |span: Span| &line.as_bytes()[span.start..span.end];
        // Some agents write a tool's output once for the model and once for themselves.
        let is_again = |piece: &Piece| piece.draft == at.draft && text(piece.span) == text(span);
        let known = self.pieces.iter().take(COMPARED);
        if kind != Kind::Text && known.filter(|piece| piece.kind != Kind::Text).any(is_again) {
            return;
        }
        let may_be_json = text(span).first().is_some_and(|first| matches!(first, b'{' | b'['));
        let inner = inner.filter(|_| may_be_json);
        self.pieces.push(Piece { span, kind, draft: at.draft, inner });
    }
}

/// Where in a line something is read.
#[derive(Debug, Clone, Copy)]
struct At {
    depth: u32,
    /// Whose text it is.
    draft: usize,
    /// Whether it is content, whose fields are not the message's.
    is_part: bool,
    /// Whether it is what a record holds, whose type says more than the record's.
    is_inner: bool,
}

/// The string that comes next, if one does.
fn string(cursor: &mut Cursor<'_>, depth: u32) -> Result<Option<Span>, Invalid> {
    cursor.skip_space();
    match cursor.peek() {
        Some(b'"') => cursor.string().map(Some),
        _ => cursor.skip(depth).map(|()| None),
    }
}

/// A string, or a number in its place.
fn time(cursor: &mut Cursor<'_>, depth: u32) -> Result<Span, Invalid> {
    if cursor.peek() == Some(b'"') {
        return cursor.string();
    }
    let start = cursor.at;
    cursor.skip(depth)?;
    Ok(Span { start, end: cursor.at, escaped: false })
}

/// What a part of this type has instead of text.
fn kind_of_type(name: &[u8]) -> Option<Kind> {
    let has = |word: &[u8]| memchr::memmem::find(name, word).is_some();
    if has(b"tool") || has(b"_call") || has(b"function") || has(b"exec_command") {
        Some(Kind::Tools)
    } else if has(b"thinking") || has(b"reasoning") {
        Some(Kind::Thinking)
    } else {
        None
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
