//! Which lines may be of a time that is asked for, told from their bytes.

use memchr::memchr2;

use crate::Time;
use crate::find::Finder;
use crate::query::Window;

/// The key whose value says when a message was written.
const KEY: &str = "\"timestamp\"";

/// Beginnings of the other keys that a time may stand behind.
const OTHER_KEYS: [&str; 3] = ["\"created", "\"ts\"", "\"time\""];

/// What a line of such a time holds: the key, unless an escape hides a letter of it, and a time.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    key: Finder,
    window: Window,
    /// Other keys that a time may stand behind.
    others: Vec<Finder>,
}

impl Times {
    /// `None` where any time will do.
    pub(crate) fn of(window: Window) -> Option<Self> {
        (!window.is_open()).then(|| Self { key: Finder::exact(KEY), window, others: Vec::new() })
    }

    /// For lines whose time may stand behind another key, or be a number.
    pub(crate) fn lenient(window: Window) -> Option<Self> {
        let others = OTHER_KEYS.iter().map(|key| Finder::exact(key)).collect();
        Self::of(window).map(|times| Self { others, ..times })
    }

    pub(crate) fn key(&self) -> &Finder {
        &self.key
    }

    /// Whether something that looks like the key has a value that may be such a time. Whether it is
    /// a key, and which of several counts, the parser says.
    pub(crate) fn may_be_in(&self, line: &[u8]) -> bool {
        let mut rest = line;
        while let Some(at) = self.key.find(rest) {
            rest = &rest[at + KEY.len()..];
            if self.is_value_in(rest) {
                return true;
            }
        }
        self.others.iter().any(|key| key.find(line).is_some())
    }

    fn is_value_in(&self, behind_key: &[u8]) -> bool {
        let Some(value) = behind(behind_key, b':') else { return false };
        let Some(string) = behind(value, b'"') else { return !self.others.is_empty() };
        let Some(end) = memchr2(b'"', b'\\', string) else { return false };
        if string[end] == b'\\' {
            return true;
        }
        let text = std::str::from_utf8(&string[..end]).ok();
        text.and_then(Time::parse).is_some_and(|time| self.window.holds(time))
    }
}

/// What stands behind the next byte that is no white space, if that is this one.
fn behind(bytes: &[u8], byte: u8) -> Option<&[u8]> {
    bytes.trim_ascii_start().strip_prefix(&[byte])
}
