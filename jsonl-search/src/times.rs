//! Which lines may be of a time that is asked for, told from their bytes.

use memchr::memchr2;

use crate::Time;
use crate::find::Finder;
use crate::query::Window;

/// The key whose value says when a message was written.
const KEY: &str = "\"timestamp\"";

/// What a line of such a time holds: the key, unless an escape hides a letter of it, and a time.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    key: Finder,
    window: Window,
}

impl Times {
    /// `None` where any time will do.
    pub(crate) fn of(window: Window) -> Option<Self> {
        (!window.is_open()).then(|| Self { key: Finder::exact(KEY), window })
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
        false
    }

    fn is_value_in(&self, behind_key: &[u8]) -> bool {
        let value = behind(behind_key, b':').and_then(|value| behind(value, b'"'));
        let Some(string) = value else { return false };
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
