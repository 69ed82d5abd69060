//! What messages say: sentences, code blocks, escapes, a little of other scripts. Everything is
//! written as it stands inside a JSON string.

use crate::needles::{Due, NEEDLES, Spelling};
use crate::random::Random;
use crate::words::Words;

/// What a sentence may end with.
const ENDINGS: [&str; 8] = [". ", ". ", ". ", ".\\n", "?\\n\\n", ", so ", ": ", " (see above). "];

/// What stands in some sentences: quotes, backslashes, tabs, and letters of two to four bytes.
const ASIDES: [&str; 10] = [
    "\\\"quoted\\\" ",
    "C:\\\\temp\\\\log.txt ",
    "a\\tb ",
    "caf\u{e9} ",
    "\u{2192} ",
    "\u{2713} ",
    "\u{65e5}\u{672c}\u{8a9e} ",
    "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442} ",
    "\u{1f980} ",
    "https://example.org/a?b=1&c=2 ",
];

/// A writer of text.
pub(crate) struct Prose<'a> {
    pub(crate) words: &'a Words,
    pub(crate) random: &'a mut Random,
}

impl Prose<'_> {
    /// Appends that many sentences, now and then a block of code, and each needle that is due.
    pub(crate) fn append(&mut self, sentences: u64, due: &Due, out: &mut Vec<u8>) {
        // Before or after the bulk of the text, so that a search that stops early is found out.
        let late = self.random.once_in(2);
        if !late {
            self.needles(due, out);
        }
        for _ in 0..sentences {
            self.sentence(out);
            if self.random.once_in(24) {
                out.extend_from_slice(b"\\n```rust\\n");
                self.code(6, out);
                out.extend_from_slice(b"```\\n");
            }
        }
        if late {
            self.needles(due, out);
        }
    }

    /// Appends lines of code.
    pub(crate) fn code(&mut self, lines: u64, out: &mut Vec<u8>) {
        for _ in 0..lines {
            let draws = self.random.bits();
            let word = |place: u32| self.words.word((draws >> (16 * place)) as u16);
            out.extend_from_slice(b"    let ");
            out.extend_from_slice(word(0));
            out.push(b'_');
            out.extend_from_slice(word(1));
            out.extend_from_slice(b" = ");
            out.extend_from_slice(word(2));
            out.extend_from_slice(b"(\\\"");
            out.extend_from_slice(word(3));
            out.extend_from_slice(b"\\\", ");
            number(draws % 1_000, out);
            out.extend_from_slice(b")?;\\n");
        }
    }

    fn sentence(&mut self, out: &mut Vec<u8>) {
        let words = 5 + self.random.below(14);
        self.words.append(words as usize, self.random, out);
        if self.random.once_in(12) {
            out.extend_from_slice(self.random.pick(&ASIDES).as_bytes());
        }
        // The space after the last word.
        out.pop();
        out.extend_from_slice(self.random.pick(&ENDINGS).as_bytes());
    }

    fn needles(&mut self, due: &Due, out: &mut Vec<u8>) {
        for (needle, spelling) in NEEDLES.iter().zip(due.text) {
            if spelling == Spelling::Absent {
                continue;
            }
            let before = self.random.below(6);
            self.words.append(before as usize, self.random, out);
            let start = out.len();
            out.extend_from_slice(needle.word.as_bytes());
            if spelling == Spelling::Capital {
                out[start].make_ascii_uppercase();
            }
            out.push(b' ');
        }
    }
}

pub(crate) fn number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(number.to_string().as_bytes());
}
