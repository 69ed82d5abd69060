//! What messages say: sentences, code blocks, escapes, a little of other scripts. Everything is
//! written as it stands inside a JSON string.

use crate::kind::Kind;
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
    pub(crate) kind: Kind,
}

impl<'a> Prose<'a> {
    pub(crate) fn new(words: &'a Words, random: &'a mut Random) -> Self {
        Self { words, random, kind: Kind::Sessions }
    }

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
        match self.kind {
            Kind::Escapes => self.two_scripts(words, out),
            _ => self.words.append(words as usize, self.random, out),
        }
        if self.random.once_in(12) {
            let aside = self.random.pick(&ASIDES);
            match self.kind {
                Kind::Escapes => aside.chars().for_each(|letter| as_ascii(letter, out)),
                _ => out.extend_from_slice(aside.as_bytes()),
            }
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
            for _ in 0..self.kind.repetitions(self.random) {
                let before = self.random.below(6);
                self.words.append(before as usize, self.random, out);
                let start = out.len();
                out.extend_from_slice(needle.word.as_bytes());
                if spelling == Spelling::Capital {
                    out[start].make_ascii_uppercase();
                }
                out.push(b' ');
            }
            if self.kind == Kind::Escapes && needle.word == "quokka" {
                "кенгуру ".chars().for_each(|letter| as_ascii(letter, out));
            }
        }
    }

    /// Appends words, half of them in Cyrillic letters.
    fn two_scripts(&mut self, words: u64, out: &mut Vec<u8>) {
        for _ in 0..words {
            let draw = self.random.bits();
            let word = self.words.word(draw as u16);
            if draw >> 63 == 0 {
                out.extend_from_slice(word);
            } else {
                word.iter().for_each(|&letter| as_ascii(cyrillic(letter), out));
            }
            out.push(b' ');
        }
    }
}

/// A letter of the other alphabet for each of this one's.
fn cyrillic(letter: u8) -> char {
    let place = letter.to_ascii_lowercase().checked_sub(b'a').filter(|&place| place < 26);
    place.map_or(char::from(letter), |place| {
        char::from_u32(u32::from('а') + u32::from(place)).expect("the alphabet has 32 letters")
    })
}

/// Appends a character as it is, or as `\uXXXX` where it is beyond ASCII.
fn as_ascii(letter: char, out: &mut Vec<u8>) {
    if letter.is_ascii() {
        return out.push(letter as u8);
    }
    for unit in letter.encode_utf16(&mut [0; 2]) {
        out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
    }
}

pub(crate) fn number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(number.to_string().as_bytes());
}
