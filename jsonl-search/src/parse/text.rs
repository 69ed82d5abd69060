//! A message's text, decoded when somebody needs it to be.

use std::fmt;

use memchr::memmem;

use super::cursor::{Span, decode};
use super::indent::indent;
use crate::find::Finder;

/// The text, or the places in the line that it is made of.
pub enum Text<'a> {
    /// As it is.
    Whole(&'a str),
    /// Strings of the line, which are lines of the text, as JSON spells them.
    Spelled(Spelled<'a>),
}

/// Strings of a line, and memory for what they mean.
pub struct Spelled<'a> {
    line: &'a str,
    blocks: &'a [Span],
    memory: &'a mut String,
    is_decoded: bool,
    /// Where in the line somebody has found something already.
    hit: usize,
}

impl<'a> Text<'a> {
    pub(super) fn of(line: &'a str, blocks: &'a [Span], memory: &'a mut String) -> Self {
        Self::Spelled(Spelled { line, blocks, memory, is_decoded: false, hit: 0 })
    }

    /// Looks at this place of the line first.
    pub(crate) fn look_at(&mut self, place: usize) {
        if let Self::Spelled(spelled) = self {
            spelled.hit = place;
        }
    }

    /// The text itself.
    pub fn whole(&mut self) -> &str {
        match self {
            Self::Whole(text) => text,
            Self::Spelled(spelled) => spelled.decoded(),
        }
    }

    /// Appends its lines, each behind two spaces and with its end.
    pub(crate) fn indent(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Spelled(Spelled { line, blocks, .. }) => {
                indent(blocks.iter().map(|block| &line[block.start..block.end]), out);
            }
            Self::Whole(text) => {
                for line in text.lines() {
                    out.extend_from_slice(format!("  {line}\n").as_bytes());
                }
            }
        }
    }

    /// Whether a literal stands in it that JSON does not have to escape. Decodes only where `\u`
    /// may hide it.
    pub(crate) fn has(&mut self, literal: &Finder) -> bool {
        match self {
            Self::Spelled(spelled) if !spelled.is_decoded => {
                let found = spelled.has(literal);
                found.unwrap_or_else(|| literal.find(spelled.decoded().as_bytes()).is_some())
            }
            _ => literal.find(self.whole().as_bytes()).is_some(),
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(text) => text.fmt(f),
            Self::Spelled(spelled) => {
                let mut text = String::new();
                join(spelled.line, spelled.blocks, &mut text);
                text.fmt(f)
            }
        }
    }
}

impl Spelled<'_> {
    fn decoded(&mut self) -> &str {
        if let [block] = self.blocks
            && !block.escaped
        {
            return &self.line[block.start..block.end];
        }
        if !self.is_decoded {
            self.is_decoded = true;
            self.memory.clear();
            join(self.line, self.blocks, self.memory);
        }
        self.memory
    }

    /// `None` where that takes decoding. No such literal has a line's end, so each is in one block.
    fn has(&self, literal: &Finder) -> Option<bool> {
        let line = self.line.as_bytes();
        let hit = self.hit..self.hit + literal.needle().len();
        let mut around =
            self.blocks.iter().filter(|one| one.start <= hit.start && hit.end <= one.end);
        if literal.is_at(line, hit.start)
            && around
                .any(|one| !one.escaped || !is_in_escape(&line[one.start..], hit.start - one.start))
        {
            return Some(true);
        }
        let mut is_hidden = false;
        for block in self.blocks {
            let bytes = &line[block.start..block.end];
            let mut from = 0;
            while let Some(found) = literal.find(&bytes[from..]) {
                if !block.escaped || !is_in_escape(bytes, from + found) {
                    return Some(true);
                }
                from += found + 1;
            }
            is_hidden |= block.escaped && memmem::find(bytes, b"\\u").is_some();
        }
        (!is_hidden).then_some(false)
    }
}

fn join(line: &str, blocks: &[Span], text: &mut String) {
    for (number, block) in blocks.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        decode(&line[block.start..block.end], text);
    }
}

/// Whether the byte at `at` belongs to an escape that begins before it: the letter of `\n`, or a
/// digit of `\u00e9`.
fn is_in_escape(bytes: &[u8], at: usize) -> bool {
    let is_letter = |at: usize| {
        let before = bytes[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
        before % 2 == 1
    };
    let is_digit_of = |u: usize| bytes[u] == b'u' && is_letter(u);
    is_letter(at) || (1..=4).any(|back| at.checked_sub(back).is_some_and(is_digit_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_digits_of_escapes_are_no_text() {
        for (bytes, at, inside) in [
            (r"\needle", 1, true),
            (r"\\needle", 2, false),
            (r"\\\needle", 3, true),
            (r"\u00e9a", 2, true),
            (r"\u00e9a", 5, true),
            (r"\u00e9a", 6, false),
            (r"\\u00e9", 3, false),
            (r"u00e9", 1, false),
        ] {
            assert_eq!(is_in_escape(bytes.as_bytes(), at), inside, "{bytes} {at}");
        }
    }
}
