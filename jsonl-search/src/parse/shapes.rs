//! Which strings of a record are texts and which its fields, by their keys, in one walk.

use super::Invalid;
use super::cursor::{Cursor, DEPTH, Span, each_element, each_field, name};
use super::keys::{Means, is_no_text};
use super::records::{Draft, Field, Kind, Piece, Records};

/// Among so many texts of a line one that is written twice is found.
const COMPARED: usize = 32;

impl Records {
    /// A record, what it wraps, or a part of its content.
    pub(super) fn object(
        &mut self,
        line: &str,
        cursor: &mut Cursor<'_>,
        at: At,
    ) -> Result<(), Invalid> {
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
                    match at.is_inner {
                        true => self.field(at, |draft| &mut draft.inner_kind, span, true),
                        false => self.field(at, |draft| &mut draft.kind, span, false),
                    }
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
                    let count = self.pieces.len();
                    self.piece(line, span, Kind::Tools, None, at);
                    tool = (self.pieces.len() > count).then_some(count);
                }
                means => return self.value(line, cursor, means, at),
            }
            Ok(())
        })?;
        if let Some(tool) = tool.filter(|_| own != Some(Kind::Tools)) {
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
    pub(super) fn deep(
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
pub(super) struct At {
    pub(super) depth: u32,
    /// Whose text it is.
    pub(super) draft: usize,
    /// Whether it is content, whose fields are not the message's.
    pub(super) is_part: bool,
    /// Whether it is what a record holds, whose type says more than the record's.
    pub(super) is_inner: bool,
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
