//! What a line that is no JSON was meant to be: its records, as JSON.
//!
//! Transcripts are broken in few ways: a string was cut inside a surrogate pair, a writer was
//! killed amid a record, two writers shared a line, a crash left a run of NUL. So a reader that
//! goes on where strict JSON stops finds the records again: half a pair becomes U+FFFD, bytes that
//! are no UTF-8 too, control characters are taken as they are, a bad escape is its own text, what
//! is missing at a record's end is added, and where a record begins inside another the first ends.

use super::cursor::{unicode_escape, unit};

/// Containers within each other, as strict JSON allows them here.
const DEPTH: usize = 127;

/// Records of a line, each as JSON, and what belongs to none of them.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    pub(super) json: String,
    /// Where each record ends in that.
    pub(super) ends: Vec<usize>,
    pub(super) left_over: String,
}

impl Repaired {
    pub(super) fn read(&mut self, line: &[u8]) {
        self.json.clear();
        self.ends.clear();
        self.left_over.clear();
        let line = String::from_utf8_lossy(line);
        let mut at = 0;
        while let Some(start) = next_record(&line, at) {
            self.keep(&line[at..start]);
            let mut record = Record { line: line.as_bytes(), at: start, out: &mut self.json };
            record.read();
            at = record.at;
            self.ends.push(self.json.len());
        }
        self.keep(&line[at..]);
    }

    fn keep(&mut self, between: &str) {
        let is_nothing = |letter: char| letter.is_whitespace() || "\0,[]{}".contains(letter);
        if !between.chars().all(is_nothing) {
            self.left_over.push_str(between);
            self.left_over.push('\n');
        }
    }
}

/// The next brace with a key behind it.
fn next_record(line: &str, from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'{', &bytes[from..])
        .map(|at| from + at)
        .find(|&at| begins_record(bytes, at))
}

fn begins_record(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'{') && bytes.get(behind_space(bytes, at + 1)) == Some(&b'"')
}

fn behind_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0)) {
        at += 1;
    }
    at
}

/// A record that is read and written as JSON at once.
struct Record<'l, 'o> {
    line: &'l [u8],
    at: usize,
    out: &'o mut String,
}

/// The record ends here, though something is missing.
struct Cut;

impl Record<'_, '_> {
    fn read(&mut self) {
        let mut open = Vec::new();
        // What is open is closed, whether the line has that or not.
        let _cut = self.values(&mut open);
        while let Some(closing) = open.pop() {
            self.out.push(char::from(closing));
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.at = behind_space(self.line, self.at);
        self.line.get(self.at).copied()
    }

    /// Reads on until nothing is open any more.
    fn values(&mut self, open: &mut Vec<u8>) -> Result<(), Cut> {
        let mut is_first = true;
        self.open(open);
        while let Some(&closing) = open.last() {
            let next = self.peek().ok_or(Cut)?;
            match next {
                b',' => self.at += 1,
                b'}' | b']' => {
                    self.at += 1;
                    // The other one is taken for it.
                    self.out.push(char::from(closing));
                    open.pop();
                    is_first = false;
                }
                // Of two elements without a comma the second is another writer's record.
                b'{' if closing == b']' && !is_first && !self.is_behind_comma() => return Err(Cut),
                _ if closing == b'}' => is_first = self.field(is_first, open)?,
                _ => is_first = self.element(is_first, open)?,
            }
        }
        Ok(())
    }

    fn is_behind_comma(&self) -> bool {
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | 0);
        self.line[..self.at].iter().rev().find(|byte| !is_space(byte)) == Some(&b',')
    }

    fn open(&mut self, open: &mut Vec<u8>) {
        let bracket = self.line[self.at];
        self.at += 1;
        self.out.push(char::from(bracket));
        open.push(bracket + 2);
    }

    /// Whether what comes next is the first of its container.
    fn field(&mut self, is_first: bool, open: &mut Vec<u8>) -> Result<bool, Cut> {
        let before = self.out.len();
        if !is_first {
            self.out.push(',');
        }
        let key = self.key();
        if key.is_err() {
            self.out.truncate(before);
        }
        key?;
        self.out.push(':');
        let value = self.value(open);
        if value.is_err() && self.out.ends_with(':') {
            self.out.push_str("null");
        }
        value
    }

    /// A key, with the colon behind it read.
    fn key(&mut self) -> Result<(), Cut> {
        if self.peek() != Some(b'"') {
            return Err(Cut);
        }
        self.string()?;
        if self.peek() != Some(b':') {
            return Err(Cut);
        }
        self.at += 1;
        Ok(())
    }

    fn element(&mut self, is_first: bool, open: &mut Vec<u8>) -> Result<bool, Cut> {
        let before = self.out.len();
        if !is_first {
            self.out.push(',');
        }
        let began = self.out.len();
        let value = self.value(open);
        if value.is_err() && self.out.len() == began {
            self.out.truncate(before);
        }
        value
    }

    fn value(&mut self, open: &mut Vec<u8>) -> Result<bool, Cut> {
        match self.peek().ok_or(Cut)? {
            b'{' | b'[' if open.len() < DEPTH => {
                self.open(open);
                return Ok(true);
            }
            b'"' => self.string()?,
            _ => self.scalar()?,
        }
        Ok(false)
    }

    /// A word or a number; one that JSON does not have is null.
    fn scalar(&mut self) -> Result<(), Cut> {
        let start = self.at;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let length = self.line[start..].iter().take_while(|byte| is_part(byte)).count();
        if length == 0 {
            return Err(Cut);
        }
        self.at += length;
        let text = std::str::from_utf8(&self.line[start..self.at]).map_err(|_| Cut)?;
        let is_known = serde_json::from_str::<serde_json::Value>(text).is_ok();
        self.out.push_str(if is_known { text } else { "null" });
        Ok(())
    }

    /// The string that begins here. Where the next record begins in it, it ends before that.
    fn string(&mut self) -> Result<(), Cut> {
        let start = self.at + 1;
        let mut end = start;
        while let Some(&byte) = self.line.get(end).filter(|&&byte| byte != b'"') {
            end += 1 + usize::from(byte == b'\\' && end + 1 < self.line.len());
        }
        let is_whole = end < self.line.len();
        let inside = &self.line[start..end.min(self.line.len())];
        if let Some(brace) = self.splice(inside, start).filter(|_| is_whole) {
            self.write(&self.line[start..brace]);
            self.at = brace;
            return Err(Cut);
        }
        self.write(inside);
        self.at = (end + 1).min(self.line.len());
        if is_whole { Ok(()) } else { Err(Cut) }
    }

    /// Where the next record begins if its brace is the last of this string and its first key's
    /// quote was taken for the string's end: no comma, colon or bracket follows then.
    fn splice(&self, inside: &[u8], start: usize) -> Option<usize> {
        let trimmed = inside.trim_ascii_end();
        let brace = start + trimmed.len().checked_sub(1)?;
        let behind = behind_space(self.line, start + inside.len() + 1);
        let goes_on = matches!(self.line.get(behind), Some(b',' | b':' | b'}' | b']') | None);
        (trimmed.ends_with(b"{") && !goes_on).then_some(brace)
    }

    /// A string's inside as JSON has it.
    fn write(&mut self, inside: &[u8]) {
        let text = std::str::from_utf8(inside).expect("it was made UTF-8, and ends are ASCII");
        self.out.push('"');
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let length = match letter {
                '\\' => escape(rest, self.out),
                '\0'..'\x20' => {
                    self.out.push_str(&format!("\\u{:04x}", u32::from(letter)));
                    1
                }
                _ => {
                    self.out.push(letter);
                    letter.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        self.out.push('"');
    }
}

/// Writes the escape that a text begins with as one that JSON has; how long it is.
fn escape(text: &str, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            out.push_str(&text[..2]);
            2
        }
        Some(b'u') if unit(&bytes[2..]).is_some() => match unicode_escape(bytes) {
            Some((_, length)) => {
                out.push_str(&text[..length]);
                length
            }
            None => {
                out.push('\u{fffd}');
                6
            }
        },
        _ => {
            out.push_str("\\\\");
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(line: &[u8]) -> (Vec<String>, String) {
        let mut repaired = Repaired::default();
        repaired.read(line);
        let Repaired { json, ends, left_over } = repaired;
        let mut start = 0;
        let records =
            ends.iter().map(|&end| json[std::mem::replace(&mut start, end)..end].to_owned());
        (records.collect(), left_over)
    }

    #[test]
    fn what_is_broken_is_as_it_was_meant() {
        let cases: [(&[u8], &[&str], &str); 21] = [
            (br#"{"a":"x \ud83d y"}"#, &["{\"a\":\"x \u{fffd} y\"}"], ""),
            (br#"{"a":"\udc00\ud83d\ude00"}"#, &["{\"a\":\"\u{fffd}\\ud83d\\ude00\"}"], ""),
            (br#"{"a":1}{"b":2}"#, &[r#"{"a":1}"#, r#"{"b":2}"#], ""),
            (br#"{"a":"cut {"b":"c"}"#, &[r#"{"a":"cut "}"#, r#"{"b":"c"}"#], ""),
            (br#"{"a":"cut{ "b":"c"}"#, &[r#"{"a":"cut"}"#, r#"{"b":"c"}"#], ""),
            (br#"{"a":["x","cut {"b":"c"}"#, &[r#"{"a":["x","cut "]}"#, r#"{"b":"c"}"#], ""),
            (br#"{"a":1,"ke{"b":"c"}"#, &[r#"{"a":1}"#, r#"{"b":"c"}"#], ""),
            (br#"{"a":1,{"b":"c"}"#, &[r#"{"a":1}"#, r#"{"b":"c"}"#], ""),
            (br#"{"a":[{"b":1}{"c":2}"#, &[r#"{"a":[{"b":1}]}"#, r#"{"c":2}"#], ""),
            (br#"{"a":{"b":"c"}"#, &[r#"{"a":{"b":"c"}}"#], ""),
            (b"\0\0\0{\"a\":\"x\0\x01\"}\0", &[r#"{"a":"x\u0000\u0001"}"#], ""),
            (br#"{"a":"b","c":"half"#, &[r#"{"a":"b","c":"half"}"#], ""),
            (br#"{"a":"b","c":"#, &[r#"{"a":"b","c":null}"#], ""),
            (br#"{"a":"b","c"#, &[r#"{"a":"b"}"#], ""),
            (br#"{"a":[1,"b","#, &[r#"{"a":[1,"b"]}"#], ""),
            (br#"{"a":"\x61 \u12"}"#, &[r#"{"a":"\\x61 \\u12"}"#], ""),
            (br#"{"a":01,"b":nul,"c":1e5,}"#, &[r#"{"a":null,"b":null,"c":1e5}"#], ""),
            (b"{\"a\":\"\xff\"}", &["{\"a\":\"\u{fffd}\"}"], ""),
            (b"a needle in plain words", &[], "a needle in plain words\n"),
            (br#"a tail"}]}{"b":"c"}"#, &[r#"{"b":"c"}"#], "a tail\"}]}\n"),
            (br#"[{"a":1},{"b":2}]"#, &[r#"{"a":1}"#, r#"{"b":2}"#], ""),
        ];
        for (line, expected, left_over) in cases {
            let found = records(line);
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            assert_eq!(
                found,
                (expected, left_over.to_owned()),
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }
}
