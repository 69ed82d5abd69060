//! One line of a reply as one HTTP chunk, rendered ahead of time but for its stamp.

use std::ops::Range;

use crate::wire::Brackets;

/// A chunk whose `sent_ns` is filled in at the last moment.
#[derive(Debug, Default)]
pub(crate) struct Line {
    bytes: Vec<u8>,
    /// The chunk's size: four hexadecimal digits, which hold lines of up to 64 KiB.
    size: Range<usize>,
    /// Where the chunk's data begins, and the digits of the stamp within it.
    data: usize,
    digits: Range<usize>,
    data_end: usize,
}

impl Line {
    /// Renders `{FIELDS,"sent_ns":…}` within brackets. `head` precedes the chunk (the header of the
    /// response travels with the first line), `tail` follows it (the end of the body with the last
    /// one).
    pub(crate) fn render(head: &[u8], brackets: Brackets, fields: &str, tail: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(head.len() + fields.len() + tail.len() + 64);
        bytes.extend_from_slice(head);
        let size = bytes.len()..bytes.len() + 4;
        bytes.extend_from_slice(b"0000\r\n");
        let data = bytes.len();
        bytes.extend_from_slice(brackets.open.as_bytes());
        bytes.extend_from_slice(fields.as_bytes());
        bytes.extend_from_slice(b",\"sent_ns\":");
        let digits = bytes.len()..bytes.len();
        bytes.extend_from_slice(brackets.close.as_bytes());
        let data_end = bytes.len();
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(tail);
        let mut line = Self { bytes, size, data, digits, data_end };
        // Reserves as many digits as the clock has now; it gains one about never.
        line.stamp(crate::clock::now_ns());
        line
    }

    /// Fills in the stamp and returns what goes over the wire.
    pub(crate) fn stamp(&mut self, sent_ns: u64) -> &[u8] {
        let digits = sent_ns.to_string();
        if digits.len() == self.digits.len() {
            self.bytes[self.digits.clone()].copy_from_slice(digits.as_bytes());
        } else {
            self.data_end = self.data_end - self.digits.len() + digits.len();
            self.bytes.splice(self.digits.clone(), digits.bytes());
            self.digits.end = self.digits.start + digits.len();
            let size = format!("{:04x}", self.data_end - self.data);
            self.bytes[self.size.clone()].copy_from_slice(size.as_bytes());
        }
        &self.bytes
    }

    /// The stamped line without its chunk, for clients that know none.
    pub(crate) fn plain(&self) -> &[u8] {
        &self.bytes[self.data..self.data_end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Speech;

    #[test]
    fn the_size_follows_the_digits_of_the_stamp() {
        let mut line = Line::render(b"HEAD", Speech::Chat.brackets(), r#""a":1"#, b"TAIL");
        assert_eq!(line.stamp(7), b"HEAD0014\r\n{\"a\":1,\"sent_ns\":7}\n\r\nTAIL".as_slice());
        assert_eq!(line.stamp(12), b"HEAD0015\r\n{\"a\":1,\"sent_ns\":12}\n\r\nTAIL".as_slice());
        assert_eq!(line.plain(), b"{\"a\":1,\"sent_ns\":12}\n".as_slice());
        assert_eq!(line.stamp(34), b"HEAD0015\r\n{\"a\":1,\"sent_ns\":34}\n\r\nTAIL".as_slice());
    }
}
