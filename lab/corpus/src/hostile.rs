//! Files that break careless readers: each asks for [`HOSTILE`] in lines of one kind.
//!
//! Only what RFC 8259 decides is in them. What it leaves open (a byte order mark, keys that come
//! twice, half of a surrogate pair, numbers past a double) is not, since two right readers may
//! differ there.

use std::path::Path;

use crate::CorpusError;
use crate::kind::Kind;
use crate::manifest::FileEntry;
use crate::needles::{Due, HOSTILE, HOSTILE_INDEX, Spelling};
use crate::random::{Random, Stream};
use crate::session::Session;
use crate::sink::Sink;
use crate::words::Words;

/// The files, each by its name and what writes it.
type Case = (&'static str, fn(&mut Writer<'_>));

const CASES: [Case; 10] = [
    ("blank", blank),
    ("crlf", crlf),
    ("empty", |_| ()),
    ("escapes", escapes),
    ("invalid", invalid),
    ("long", long),
    ("shapes", shapes),
    ("torn", torn),
    ("unicode", unicode),
    ("unterminated", unterminated),
];

/// Where a line has the word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Has {
    Nothing,
    /// In its bytes and in its message's text.
    Both,
    /// The same, in capital letters.
    BothCapital,
    /// In its bytes, outside of any message.
    Bytes,
    /// In its message's text, but spelled with escapes.
    Text,
}

/// Writes all of them.
pub(crate) fn write(dir: &Path, seed: u64, words: &Words) -> Result<Vec<FileEntry>, CorpusError> {
    let mut files = Vec::new();
    let mut session = Session::from_random(Random::new(seed, Stream::Hostile), Kind::Sessions);
    for (name, case) in CASES {
        let mut sink = Sink::create(dir, &format!("hostile/{name}.jsonl"), Vec::new())?;
        case(&mut Writer { session: &mut session, words, sink: &mut sink });
        files.push(sink.finish()?.0);
    }
    Ok(files)
}

/// What a case writes with.
struct Writer<'a> {
    session: &'a mut Session,
    words: &'a Words,
    sink: &'a mut Sink,
}

impl Writer<'_> {
    /// A line as every session has them, with the word or without.
    fn plain(&mut self, with: bool) {
        let mut due = Due::default();
        if with {
            due.text[HOSTILE_INDEX] = Spelling::Small;
        }
        self.session.message(&due, self.words, &mut self.sink.buffer);
        self.sink.counts.lines += 1;
        due.count(&mut self.sink.counts.needles);
    }

    /// A message of a person with this JSON value as its content.
    fn content(&mut self, content: &str, has: Has) {
        self.session.given(content.as_bytes(), &mut self.sink.buffer);
        self.count(has);
    }

    /// A line of its own, with the line feed.
    fn line(&mut self, bytes: &[u8], has: Has) {
        self.sink.buffer.extend_from_slice(bytes);
        self.sink.buffer.push(b'\n');
        self.count(has);
    }

    fn count(&mut self, has: Has) {
        let counts = &mut self.sink.counts.needles[HOSTILE_INDEX];
        self.sink.counts.lines += 1;
        counts.lines += u64::from(matches!(has, Has::Both | Has::BothCapital | Has::Bytes));
        counts.lines_exact_case += u64::from(matches!(has, Has::Both | Has::Bytes));
        counts.messages += u64::from(matches!(has, Has::Both | Has::BothCapital | Has::Text));
    }
}

fn blank(writer: &mut Writer<'_>) {
    for _ in 0..4 {
        writer.plain(true);
        writer.sink.buffer.extend_from_slice(b"\n\n");
        writer.sink.counts.lines += 2;
        writer.sink.counts.lines_blank += 2;
    }
}

fn crlf(writer: &mut Writer<'_>) {
    for line in 0..8 {
        writer.plain(line % 2 == 0);
        writer.sink.buffer.pop();
        writer.sink.buffer.extend_from_slice(b"\r\n");
    }
}

/// Escapes that hide the word from a reader of bytes, and some that only seem to spell it.
fn escapes(writer: &mut Writer<'_>) {
    writer.content(r#""an \u0061xolotl""#, Has::Text);
    writer.content(r#""an \u0061\u0078\u006f\u006C\u006f\u0074\u006C""#, Has::Text);
    writer.content(r#"[{"type":"text","text":"an axo\u006cotl"}]"#, Has::Text);
    writer.content(r#""an \\u0061xolotl""#, Has::Nothing);
    writer.content(r#""an axo\/lotl, an axo\nlotl""#, Has::Nothing);
    writer.content(r#""\"axolotl\"""#, Has::Both);
    writer.content(r#""\naxolotl\\""#, Has::Both);
    writer.content(r#""\ud83e\udd8e axolotl \b\f\r\t""#, Has::Both);
    writer.content(r#""} , { \"axolotl\" : [ ""#, Has::Both);
}

/// Lines that are no JSON objects, with the word in each, between lines that are.
fn invalid(writer: &mut Writer<'_>) {
    let lines: [&[u8]; 12] = [
        b"an axolotl in plain words",
        br#"{"type":"user","message":{"role":"user","content":"axolotl"}"#,
        br#"{"type":"user","message":{"role":"user","content":"axolotl"}}}"#,
        br#"{"type":"user","message":{"role":"user","content":"axolotl"},}"#,
        br#"{"type":"user","message":{"role":"user","content":"axolotl}}"#,
        br#"{"type":"user","message":{"role":"user","content":"axolotl \x61"}}"#,
        br#"{'type':'user','message':{'role':'user','content':'axolotl'}}"#,
        br#"{"type":"user" "message":{"role":"user","content":"axolotl"}}"#,
        b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"axolotl \xff\xfe\"}}",
        br#"["axolotl"]"#,
        br#""axolotl""#,
        b"\0\0\0\0axolotl\0\0\0\0",
    ];
    for line in lines {
        writer.plain(true);
        writer.line(line, Has::Bytes);
        writer.sink.counts.lines_invalid += 1;
    }
}

/// Lines longer than any read buffer, and lines as long as one.
fn long(writer: &mut Writer<'_>) {
    for bytes in [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, (1 << 20) + 1, 1 << 22] {
        let buffer = &mut writer.sink.buffer;
        let start = buffer.len();
        writer.session.given(b"\"axolotl\"", buffer);
        let word = HOSTILE.as_bytes();
        let place = buffer[start..].windows(word.len()).position(|window| window == word);
        let place = start + place.expect("it was just written");
        // The line feed is not counted.
        let missing = start + bytes + 1 - buffer.len();
        let filler = b"a very long line ".iter().copied().cycle().take(missing);
        buffer.splice(place..place, filler);
        writer.count(Has::Both);
        writer.plain(false);
    }
}

/// JSON objects of other shapes than the usual one.
fn shapes(writer: &mut Writer<'_>) {
    for line in [
        "{}",
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":null,"timestamp":null}"#,
        r#"{"type":"user","message":{"role":"user","content":null}}"#,
        r#"{"type":"user","message":{"role":"user","content":[]}}"#,
        r#"{"type":"user","message":{"role":"user","content":""}}"#,
    ] {
        writer.line(line.as_bytes(), Has::Nothing);
    }
    writer.line(br#"{"axolotl":1,"type":"user"}"#, Has::Bytes);
    writer.line(br#"{"type":"axolotl","cwd":"/srv/dev/axolotl"}"#, Has::Bytes);
    let message = r#""message":{"content":"an axolotl","role":"user"}"#;
    let rest = r#""uuid":"u","sessionId":"s","type":"user""#;
    let time = r#""timestamp":"2025-06-01T12:00:00"#;
    for line in [
        format!("{{{message},{rest},{time}.000Z\"}}"),
        format!("{{{time}Z\",{rest},{message}}}"),
        format!("{{{rest},{message},{time}.123456789Z\"}}"),
        // The same bytes and the same time twice: only the place tells them apart.
        format!("{{{rest},{message},{time}.000Z\"}}"),
        format!("{{{rest},{message},{time}.000Z\"}}"),
        format!(" {{ {rest}\t, {} , {time}.000Z\" }} ", message.replace(':', " : ")),
        format!("{{{rest},\"x\":{}{},{message},{time}.000Z\"}}", "[".repeat(64), "]".repeat(64)),
    ] {
        writer.line(line.as_bytes(), Has::Both);
    }
}

fn torn(writer: &mut Writer<'_>) {
    (0..4).for_each(|_| writer.plain(true));
    writer.content(r#""an axolotl, and then the machine stopped""#, Has::Bytes);
    writer.sink.counts.lines_invalid += 1;
    let buffer = &mut writer.sink.buffer;
    let cut = b"machine stopped".as_slice();
    let place = buffer.windows(cut.len()).rposition(|window| window == cut);
    buffer.truncate(place.expect("it was just written"));
}

/// Letters of other scripts, line separators that are no line feeds, and letter case.
fn unicode(writer: &mut Writer<'_>) {
    let mut content = |text: &str, has| writer.content(&format!("\"{text}\""), has);
    content("an AXOLOTL", Has::BothCapital);
    content("axolotl \u{2028}\u{2029}\u{85}\u{200b}", Has::Both);
    content("\u{5d0}\u{5e7}\u{5e1}\u{5d5} axolotl \u{202e}", Has::Both);
    content("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} axolotl \u{10ffff}", Has::Both);
    content("\u{ff41}\u{ff58}\u{ff4f}\u{ff4c}\u{ff4f}\u{ff54}\u{ff4c}", Has::Nothing);
    content("STRASSE stra\u{df}e \u{130}stanbul \u{212a}elvin \u{17f}", Has::Nothing);
}

fn unterminated(writer: &mut Writer<'_>) {
    (0..5).for_each(|_| writer.plain(true));
    writer.sink.buffer.pop();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needles::NEEDLES;

    #[test]
    fn the_word_is_the_one_that_is_counted() {
        assert_eq!(NEEDLES[HOSTILE_INDEX].word, HOSTILE);
    }
}
