//! A line as a message.
//!
//! A line is a message if it is one JSON object that `serde_json` reads as a `Value`: UTF-8
//! throughout, no lone surrogate, no number beyond `f64`, at most 127 levels deep. Of a key that
//! comes twice the last one counts.

mod cursor;
mod indent;
mod index;
mod spans;
mod text;

pub(crate) use cursor::{unicode_escape, unit};
pub use spans::Spans;
pub use text::Text;

use crate::Time;

/// What a query looks at.
#[derive(Debug)]
pub struct Message<'a> {
    /// `type`.
    pub kind: Option<&'a str>,
    /// `message.role`.
    pub role: Option<&'a str>,
    /// `sessionId`.
    pub session: Option<&'a str>,
    /// `cwd`.
    pub cwd: Option<&'a str>,
    /// `timestamp`.
    pub timestamp: Option<&'a str>,
    /// `message.content`, or the `text` of its blocks in lines of their own; where there is no
    /// content, the line's own `content` or else its `summary`.
    pub text: Text<'a>,
}

impl Message<'_> {
    /// When it was written; `None` where it does not say, or not as RFC 3339 wants it.
    pub(crate) fn time(&self) -> Option<Time> {
        self.timestamp.and_then(Time::parse)
    }
}

/// The line is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid;

/// A way to read lines as messages, with memory that is kept from line to line. All of them find
/// the same lines invalid. [`Spans`] is what the program uses.
pub trait Parse {
    /// Calls `then` with the line's message.
    ///
    /// # Errors
    /// Where the line is none.
    fn with_message<R>(
        &mut self,
        line: &[u8],
        then: impl FnOnce(&mut Message<'_>) -> R,
    ) -> Result<R, Invalid>;
}
