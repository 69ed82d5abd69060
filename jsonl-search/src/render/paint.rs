//! Colours, and links to files.

use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, absolute};
use std::sync::OnceLock;

/// As a terminal is told (ECMA-48, SGR).
#[derive(Debug, Clone, Copy)]
pub(super) enum Colour {
    Dim,
    Role,
    Path,
    Place,
    Match,
}

impl Colour {
    fn begin(self) -> &'static str {
        match self {
            Self::Dim => "\x1b[2m",
            Self::Role => "\x1b[36m",
            Self::Path => "\x1b[35m",
            Self::Place => "\x1b[32m",
            Self::Match => "\x1b[1;31m",
        }
    }

    pub(super) fn paint(self, text: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(self.begin().as_bytes());
        out.extend_from_slice(text);
        out.extend_from_slice(b"\x1b[0m");
    }
}

/// The parts of a line that begins at `start` of its text, each with whether it is marked.
pub(super) fn parts<'t>(
    line: &'t str,
    start: usize,
    marks: &[Range<usize>],
) -> Vec<(&'t str, bool)> {
    let (mut parts, mut at) = (Vec::new(), 0);
    let first = marks.partition_point(|mark| mark.end <= start);
    for mark in &marks[first..] {
        if mark.start >= start + line.len() {
            break;
        }
        let from = mark.start.saturating_sub(start).max(at);
        let to = (mark.end - start).min(line.len());
        parts.push((&line[at..from], false));
        parts.push((&line[from..to], true));
        at = to;
    }
    parts.push((&line[at..], false));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

/// A link to a file around what is shown of it (OSC 8); standard input is none.
pub(super) fn linked(path: &Path, shown: &[u8], out: &mut Vec<u8>) {
    let whole = absolute(path).ok().filter(|_| path != Path::new("-"));
    let Some(whole) = whole else { return out.extend_from_slice(shown) };
    let target = encoded(whole.as_os_str().as_bytes());
    let link = format!("\x1b]8;;file://{}{target}\x1b\\", host());
    out.extend_from_slice(link.as_bytes());
    out.extend_from_slice(shown);
    out.extend_from_slice(b"\x1b]8;;\x1b\\");
}

/// A terminal on another machine opens no file of this name there.
fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        encoded(name.trim().as_bytes())
    })
}

/// As a URL has it (RFC 3986): every byte but letters, digits, `-._~/` as `%XX`.
fn encoded(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut url, &byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                url.push(char::from(byte));
            }
            _ => write!(url, "%{byte:02X}").expect("a string takes whatever is written"),
        }
        url
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_its_marks() {
        let marks = [0..2, 4..9, 12..13];
        assert_eq!(parts("abc", 0, &marks), [("ab", true), ("c", false)]);
        assert_eq!(parts("efgh", 4, &marks), [("efgh", true)]);
        assert_eq!(parts("ijkl", 8, &marks), [("i", true), ("jkl", false)]);
        assert_eq!(parts("", 9, &marks), []);
        assert_eq!(parts("xyz", 20, &marks), [("xyz", false)]);
    }

    #[test]
    fn a_url_has_no_other_characters() {
        assert_eq!(encoded(b"/a b/\xff%~.jsonl"), "/a%20b/%FF%25~.jsonl");
    }
}
