//! A line as a message.
//!
//! A line is a message if it is one JSON object that `serde_json` reads as a `Value`: UTF-8
//! throughout, no lone surrogate, no number beyond `f64`, at most 127 levels deep. Of a key that
//! comes twice the last one counts.

mod cursor;
mod indent;
mod index;
mod keys;
mod records;
mod repair;
mod shapes;
mod spans;
mod text;

pub(crate) use cursor::{unicode_escape, unit};
pub(crate) use records::{Kind, Records, Scope};
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

/// Which of a line's messages one is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub number: u32,
    /// Whether the line was no JSON before it was repaired.
    pub repaired: bool,
}

/// A way to read lines as messages, with memory that is kept from line to line.
pub trait Parse {
    /// Calls `then` with each of the line's messages.
    ///
    /// # Errors
    /// Where the line is none.
    fn each_message(
        &mut self,
        line: &[u8],
        then: impl FnMut(&mut Message<'_>, Part),
    ) -> Result<(), Invalid>;

    /// What of the last line belongs to no message.
    fn left_over(&self) -> &str {
        ""
    }
}
