//! A slow reader of transcripts, written apart from the program's: it makes a tree of every line,
//! letter by letter, and goes through all of it.

mod texts;
mod tolerant;

use std::fs;
use std::path::Path;

pub(crate) use texts::Message;
use tolerant::Tree;

/// What a file has, in its order: the offset of the line in bytes, whether it had to be repaired,
/// and the message.
pub(crate) fn messages(path: &Path) -> Vec<(usize, bool, Message)> {
    let bytes = fs::read(path).unwrap();
    let mut found = Vec::new();
    let mut offset = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned();
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let text = if offset == 0 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        let is_utf8 = std::str::from_utf8(line).is_ok();
        let strict = serde_json::from_str::<serde_json::Value>(text);
        let is_repaired = !is_utf8 || !strict.is_ok_and(|value| value.is_object());
        for record in tolerant::records(text) {
            let of = texts::messages(&record).into_iter();
            found.extend(of.map(|message| (offset, is_repaired, message)));
        }
        offset += line.len();
    }
    found
}
