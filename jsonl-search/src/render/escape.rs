//! Texts and names whose control characters a terminal does not see.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;

/// A path as it is, unless a terminal might obey it or it is no UTF-8: then as a shell reads it,
/// `$'a\xff'`.
pub(super) fn path(path: &Path) -> Cow<'_, [u8]> {
    match path.to_str() {
        // What looks like one that is quoted is quoted itself, so that no two look the same.
        Some(text) if !text.contains(is_obeyed) && !text.starts_with("$'") => {
            Cow::Borrowed(path.as_os_str().as_bytes())
        }
        _ => Cow::Owned(quoted(path.as_os_str()).into_bytes()),
    }
}

/// A text whose control characters are spelled out, but for lines' ends and tabs.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| is_obeyed(letter) && !is_space(letter)) {
        return Cow::Borrowed(text);
    }
    let spelled = text.chars().map(|letter| match letter {
        letter if is_obeyed(letter) && !is_space(letter) => letter.escape_default().to_string(),
        letter => letter.to_string(),
    });
    Cow::Owned(spelled.collect())
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
