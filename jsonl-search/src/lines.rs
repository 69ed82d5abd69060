//! Lines out of bytes that arrive in pieces.

use memchr::{memchr, memchr_iter, memrchr};

use crate::parse::Parse;
use crate::scan::fetch_ahead;
use crate::{Chunk, SourceFile, Worker};

/// Calls `each` with the start and end of every line, the last one also where it lacks its newline;
/// returns how many newlines there are.
pub(crate) fn each_line(lines: &[u8], mut each: impl FnMut(usize, usize)) -> u64 {
    let (mut start, mut newlines) = (0, 0);
    for newline in memchr_iter(b'\n', lines) {
        fetch_ahead(lines, newline);
        each(start, newline);
        start = newline + 1;
        newlines += 1;
    }
    if start < lines.len() {
        each(start, lines.len());
    }
    newlines
}

/// The lines that begin in one part of a file, out of pieces of any size. Give it the file's bytes
/// from [`position`](Stream::position) on, in their order, and then call
/// [`finish`](Stream::finish).
///
/// A line ends at `\n`; what follows the last one is a line as well (a torn one).
#[derive(Debug)]
pub struct Stream {
    file: u32,
    position: u64,
    /// Lines that begin behind this belong to somebody else.
    end: u64,
    /// Whether the bytes so far belong to a line that somebody else has.
    skipping: bool,
    /// The beginning of a line whose end has not arrived.
    carry: Vec<u8>,
}

impl Stream {
    /// Of a whole file.
    pub fn whole(file: &SourceFile) -> Self {
        Self { file: file.index, position: 0, end: u64::MAX, skipping: false, carry: Vec::new() }
    }

    /// Of a chunk's lines. The one that it begins in, or with, is the chunk's before.
    pub fn chunk(chunk: &Chunk) -> Self {
        Self {
            file: chunk.file,
            position: chunk.start,
            end: chunk.end,
            skipping: chunk.start > 0,
            carry: Vec::new(),
        }
    }

    /// The same lines from the one at an offset on, if there is one.
    pub(crate) fn on_from(self, line: Option<u64>) -> Self {
        match line {
            Some(position) => Self { position, skipping: false, ..self },
            None => self,
        }
    }

    /// The offset in the file, in bytes, that the next piece begins at.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Searches the lines that the next piece completes. False where no further byte is needed.
    pub fn feed<P: Parse>(&mut self, worker: &mut Worker<P>, piece: &[u8]) -> bool {
        let mut at = self.position;
        let mut rest = piece;
        self.position += piece.len() as u64;
        if self.skipping {
            let Some(newline) = memchr(b'\n', rest) else { return true };
            self.skipping = false;
            (at, rest) = (at + newline as u64 + 1, &rest[newline + 1..]);
        } else if !self.carry.is_empty() {
            let Some(newline) = memchr(b'\n', rest) else {
                self.carry.extend_from_slice(rest);
                return true;
            };
            let start = at - self.carry.len() as u64;
            self.carry.extend_from_slice(&rest[..=newline]);
            worker.search(self.file, start, &self.carry);
            self.carry.clear();
            (at, rest) = (at + newline as u64 + 1, &rest[newline + 1..]);
        }
        if at > self.end {
            return false;
        }
        let (cut, more) = self.cut(at, rest);
        worker.search(self.file, at, &rest[..cut]);
        if more {
            self.carry.extend_from_slice(&rest[cut..]);
        }
        more
    }

    /// The file has ended: searches a last line without a newline.
    pub fn finish<P: Parse>(self, worker: &mut Worker<P>) {
        let start = self.position - self.carry.len() as u64;
        worker.search(self.file, start, &self.carry);
    }

    /// How many bytes of `rest`, which begins with a line at offset `at`, are whole lines of ours,
    /// and whether more may follow.
    fn cut(&self, at: u64, rest: &[u8]) -> (usize, bool) {
        // Our last line is the one that holds the byte at the end.
        let last = usize::try_from(self.end - at).unwrap_or(usize::MAX);
        if let Some(newline) = rest.get(last..).and_then(|rest| memchr(b'\n', rest)) {
            return (last + newline + 1, false);
        }
        (memrchr(b'\n', rest).map_or(0, |newline| newline + 1), true)
    }
}
