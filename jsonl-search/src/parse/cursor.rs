//! JSON's grammar over a line's bytes: what a value is, where a string ends, nothing of what it
//! means.

use std::borrow::Cow;

use super::Invalid;
use super::index::{Quotes, Seen};

/// Objects and arrays within each other, as `serde_json` allows them.
pub(super) const DEPTH: u32 = 127;

/// Where a string's inside stands in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it has a backslash.
    pub(super) escaped: bool,
}

/// A place in a line.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Where strings end, once their escapes are known to be right.
    quotes: Option<&'a Quotes>,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], quotes: Option<&'a Quotes>) -> Self {
        Self { bytes, quotes, at: 0 }
    }

    #[inline(always)]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no white space, if it is there and this one.
    #[inline(always)]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        // Few writers put spaces anywhere.
        if self.peek() != Some(byte) {
            self.skip_space();
        }
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline(always)]
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Invalid> {
        if self.take(byte) { Ok(()) } else { Err(Invalid) }
    }

    #[inline(always)]
    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// The string that begins here, whose quote is next.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<Span, Invalid> {
        self.expect(b'"')?;
        let start = self.at;
        let (end, escaped) = match self.quotes {
            Some(quotes) => quotes.next(start).ok_or(Invalid)?,
            None => self.look_for_quote()?,
        };
        self.at = end + 1;
        Ok(Span { start, end, escaped })
    }

    #[cold]
    fn look_for_quote(&mut self) -> Result<(usize, bool), Invalid> {
        let mut escaped = false;
        loop {
            match self.peek() {
                Some(b'"') => return Ok((self.at, escaped)),
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                None | Some(..0x20) => return Err(Invalid),
                Some(_) => self.at += 1,
            }
        }
    }

    /// Skips an escape, whose backslash is next.
    fn escape(&mut self) -> Result<(), Invalid> {
        let letter = self.bytes.get(self.at + 1).ok_or(Invalid)?;
        self.at += 2;
        match letter {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                match self.unit()? {
                    0xd800..=0xdbff if self.bytes[self.at..].starts_with(b"\\u") => {
                        self.at += 2;
                        matches!(self.unit()?, 0xdc00..=0xdfff).then_some(()).ok_or(Invalid)?;
                    }
                    0xd800..=0xdfff => return Err(Invalid),
                    _ => {}
                }
                Ok(())
            }
            _ => Err(Invalid),
        }
    }

    fn unit(&mut self) -> Result<u16, Invalid> {
        let unit = unit(&self.bytes[self.at..]).ok_or(Invalid)?;
        self.at += 4;
        Ok(unit)
    }

    /// Skips the value that begins here, at so many levels below the line.
    #[inline(always)]
    pub(super) fn skip(&mut self, depth: u32) -> Result<(), Invalid> {
        self.skip_space();
        // Most values are strings.
        if self.peek() == Some(b'"') {
            return self.string().map(drop);
        }
        self.skip_any(depth)
    }

    fn skip_any(&mut self, mut depth: u32) -> Result<(), Invalid> {
        let outside = depth;
        // What each level is, the innermost lowest: 1 for an object.
        let mut objects = 0_u128;
        loop {
            self.skip_space();
            let open = self.peek().ok_or(Invalid)?;
            match open {
                b'{' | b'[' => {
                    if depth == DEPTH {
                        return Err(Invalid);
                    }
                    self.at += 1;
                    depth += 1;
                    objects = objects << 1 | u128::from(open == b'{');
                    if !self.take(open + 2) {
                        if open == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                    depth -= 1;
                    objects >>= 1;
                }
                b'"' => drop(self.string()?),
                _ => self.scalar()?,
            }
            // A value has ended; so may what it is in.
            loop {
                if depth == outside {
                    return Ok(());
                }
                let is_object = objects & 1 == 1;
                if self.take(b',') {
                    if is_object {
                        self.key()?;
                    }
                    break;
                }
                self.expect(if is_object { b'}' } else { b']' })?;
                depth -= 1;
                objects >>= 1;
            }
        }
    }

    /// A key and its colon.
    #[inline(always)]
    pub(super) fn key(&mut self) -> Result<Span, Invalid> {
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    fn scalar(&mut self) -> Result<(), Invalid> {
        let word = match self.peek() {
            Some(b't') => &b"true"[..],
            Some(b'f') => b"false",
            Some(b'n') => b"null",
            _ => return self.number(),
        };
        let found = self.bytes[self.at..].starts_with(word);
        self.at += word.len();
        if found { Ok(()) } else { Err(Invalid) }
    }

    fn number(&mut self) -> Result<(), Invalid> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let whole = self.at;
        if self.digits()? > 1 && self.bytes[whole] == b'0' {
            return Err(Invalid);
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        let has_exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if has_exponent {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        // No shorter number without an exponent is beyond f64.
        if !has_exponent && self.at - start < 300 {
            return Ok(());
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).map_err(|_| Invalid)?;
        let number: f64 = text.parse().map_err(|_| Invalid)?;
        if number.is_finite() { Ok(()) } else { Err(Invalid) }
    }

    /// How many digits are next, at least one.
    fn digits(&mut self) -> Result<usize, Invalid> {
        let rest = &self.bytes[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(Invalid) } else { Ok(count) }
    }
}

/// A line as text, if it is any.
#[inline]
pub(super) fn text_of(line: &[u8], seen: Seen) -> Result<&str, Invalid> {
    match seen {
        // SAFETY: every byte was seen to be ASCII, which is UTF-8.
        #[expect(unsafe_code, reason = "does not look at every byte once more")]
        Seen::Ascii => Ok(unsafe { std::str::from_utf8_unchecked(line) }),
        Seen::Quotes | Seen::Nothing => simdutf8::basic::from_utf8(line).map_err(|_| Invalid),
    }
}

/// Calls `each` behind every key of the object that begins here.
pub(super) fn each_field<'a>(
    cursor: &mut Cursor<'a>,
    mut each: impl FnMut(&mut Cursor<'a>, Span) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    cursor.expect(b'{')?;
    if cursor.take(b'}') {
        return Ok(());
    }
    loop {
        let key = cursor.key()?;
        each(cursor, key)?;
        if !cursor.take(b',') {
            return cursor.expect(b'}');
        }
    }
}

/// Calls `each` at every element of the array that begins here, so many levels below the line.
pub(super) fn each_element<'a>(
    cursor: &mut Cursor<'a>,
    depth: u32,
    mut each: impl FnMut(&mut Cursor<'a>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    if depth == DEPTH {
        return Err(Invalid);
    }
    cursor.expect(b'[')?;
    if cursor.take(b']') {
        return Ok(());
    }
    loop {
        cursor.skip_space();
        each(cursor)?;
        if !cursor.take(b',') {
            return cursor.expect(b']');
        }
    }
}

/// What a key means.
#[inline(always)]
pub(super) fn name(line: &str, key: Span) -> Cow<'_, [u8]> {
    match key.escaped {
        true => Cow::Owned(unescaped(&line[key.start..key.end])),
        false => Cow::Borrowed(&line.as_bytes()[key.start..key.end]),
    }
}

#[cold]
fn unescaped(inside: &str) -> Vec<u8> {
    let mut text = String::new();
    decode(inside, &mut text);
    text.into_bytes()
}

/// The number of four hexadecimal digits.
pub(crate) fn unit(digits: &[u8]) -> Option<u16> {
    digits.first_chunk::<4>()?.iter().try_fold(0, |unit: u16, &digit| {
        let value = char::from(digit).to_digit(16)? as u16;
        Some(unit << 4 | value)
    })
}

/// Appends what a string's inside means; it is one that [`Cursor::string`] found.
pub(super) fn decode(inside: &str, out: &mut String) {
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (letter, length) = escaped(&rest.as_bytes()[at..]);
        out.push(letter);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
}

/// What an escape means, and how many bytes it has.
pub(super) fn escaped(bytes: &[u8]) -> (char, usize) {
    let letter = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(bytes).unwrap_or((char::REPLACEMENT_CHARACTER, 6)),
        other => char::from(*other.unwrap_or(&b'\\')),
    };
    (letter, 2)
}

/// The character of a `\uXXXX`, or of two that are a surrogate pair, and their length in bytes.
pub(crate) fn unicode_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let first = unit(bytes.strip_prefix(b"\\u")?)?;
    if let Some(letter) = char::from_u32(u32::from(first)) {
        return Some((letter, 6));
    }
    let second = unit(bytes[6..].strip_prefix(b"\\u")?)?;
    let letter = char::decode_utf16([first, second]).next()?.ok()?;
    Some((letter, 12))
}
