//! A message as a person is shown it: made where it is found, written where the order is known.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;

use crate::parse::{Message, Part};

/// What is written, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) output: Output,
    /// Whether control characters of messages and names are spelled out, for a terminal obeys them.
    pub(crate) escapes: bool,
}

/// How messages are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// For the eye.
    Text,
    /// One object.
    Json,
    /// An object per message and line.
    Jsonl,
}

/// A message without the path of its file, which whoever reads the line does not know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rendered<T> {
    pub(crate) bytes: T,
    /// Bytes before the path.
    pub(crate) before: usize,
}

/// What stands behind the path.
#[derive(Serialize)]
struct Fields<'a> {
    /// Of its line, in bytes.
    offset_bytes: u64,
    timestamp: Option<&'a str>,
    role: Option<&'a str>,
    session: Option<&'a str>,
    project: Option<&'a str>,
    /// Whether the line was no JSON before it was repaired.
    repaired: bool,
    text: &'a str,
}

impl Style {
    /// The message, which begins at `offset` of its file, in the memory of others before it.
    pub(crate) fn render<'m>(
        self,
        offset: u64,
        message: &mut Message<'_>,
        part: Part,
        bytes: &'m mut Vec<u8>,
    ) -> Rendered<&'m [u8]> {
        let (timestamp, role) = (message.timestamp, message.role.or(message.kind));
        let (session, project) = (message.session, message.cwd);
        bytes.clear();
        let before = match self.output {
            Output::Text => {
                for field in [timestamp, role, session] {
                    bytes.extend_from_slice(self.safe(field.unwrap_or("-")).as_bytes());
                    bytes.push(b' ');
                }
                let before = bytes.len();
                let mark = if part.repaired { " (repaired)" } else { "" };
                bytes.extend_from_slice(format!(":{offset}{mark}\n").as_bytes());
                if self.escapes {
                    for line in message.text.whole().lines() {
                        bytes.extend_from_slice(format!("  {}\n", self.safe(line)).as_bytes());
                    }
                } else {
                    message.text.indent(bytes);
                }
                before
            }
            Output::Json | Output::Jsonl => {
                let text = message.text.whole();
                let (offset_bytes, repaired) = (offset, part.repaired);
                let fields =
                    Fields { offset_bytes, timestamp, role, session, project, repaired, text };
                bytes.extend_from_slice(json(&fields).as_bytes());
                // The path takes the place of the brace.
                bytes[0] = b',';
                0
            }
        };
        Rendered { bytes, before }
    }

    /// Writes it with its file's path.
    pub(crate) fn write(
        self,
        out: &mut impl Write,
        path: &Path,
        message: Rendered<&[u8]>,
    ) -> io::Result<()> {
        let (before, behind) = message.bytes.split_at(message.before);
        match self.output {
            Output::Text => {
                out.write_all(before)?;
                out.write_all(&self.path(path))?;
                out.write_all(behind)
            }
            Output::Json | Output::Jsonl => {
                write!(out, "{{{}", path_fields(path))?;
                out.write_all(behind)?;
                out.write_all(if self.output == Output::Jsonl { b"\n" } else { b"" })
            }
        }
    }

    /// A path as it is; on a terminal one that it might obey, or that is no UTF-8, as a shell
    /// reads it: `$'a\xff'`.
    pub(crate) fn path(self, path: &Path) -> Cow<'_, [u8]> {
        let bytes = path.as_os_str().as_bytes();
        if !self.escapes {
            return Cow::Borrowed(bytes);
        }
        match path.to_str() {
            // What looks like one that is quoted is quoted itself, so that no two look the same.
            Some(text) if !text.contains(is_obeyed) && !text.starts_with("$'") => {
                Cow::Borrowed(bytes)
            }
            _ => Cow::Owned(quoted(path.as_os_str()).into_bytes()),
        }
    }

    /// The same of several lines.
    pub(crate) fn lines(self, text: &str) -> String {
        let lines: Vec<_> = text.lines().map(|line| self.safe(line)).collect();
        lines.join("\n")
    }

    /// A text whose control characters a terminal does not see, but for lines' ends and tabs.
    pub(crate) fn safe(self, text: &str) -> Cow<'_, str> {
        if !self.escapes || !text.contains(|letter| is_obeyed(letter) && !is_space(letter)) {
            return Cow::Borrowed(text);
        }
        let spelled = text.chars().map(|letter| match letter {
            letter if is_obeyed(letter) && !is_space(letter) => letter.escape_default().to_string(),
            letter => letter.to_string(),
        });
        Cow::Owned(spelled.collect())
    }
}

/// `"path":"…"`, and, where that is not the name's bytes, these as `"path_hex"`.
pub(crate) fn path_fields(path: &Path) -> String {
    let lossy = format!("\"path\":{}", json(&path.to_string_lossy()));
    match path.to_str() {
        Some(_) => lossy,
        None => {
            let bytes = path.as_os_str().as_bytes().iter();
            let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
            format!("{lossy},\"path_hex\":\"{digits}\"")
        }
    }
}

/// JSON in which no control character stands as it is.
pub(crate) fn json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("strings and numbers are JSON");
    if json.bytes().all(|byte| byte < 0x7f) || !json.contains(is_obeyed) {
        return json;
    }
    // JSON has spelled those of ASCII already, and all of the others are in the first plane.
    let spelled = json.chars().map(|letter| match letter {
        letter if is_obeyed(letter) => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    });
    spelled.collect()
}

/// Control characters, and those that turn the direction of what follows.
fn is_obeyed(letter: char) -> bool {
    let turns = ['\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    letter.is_control() || turns.iter().any(|range| range.contains(&letter))
}

fn is_space(letter: char) -> bool {
    matches!(letter, '\n' | '\t')
}

/// As Bash and others read it: every byte that is no printable ASCII as `\xXX`.
fn quoted(name: &OsStr) -> String {
    let inside = name.as_bytes().iter().map(|&byte| match byte {
        b'\\' | b'\'' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    });
    format!("$'{}'", inside.collect::<String>())
}
