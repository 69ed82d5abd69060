//! Numbers of lines.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::sources::Sources;
use crate::content::At;

/// From 1, by a file's index and a line's offset in bytes.
#[derive(Debug, Default)]
pub(super) struct Numbers(BTreeMap<(u32, u64), u64>);

impl Numbers {
    /// Of lines at these places, whose files are read once each.
    pub(super) fn of(
        places: impl IntoIterator<Item = (u32, u64)>,
        sources: &Sources,
    ) -> io::Result<Self> {
        let mut numbers: BTreeMap<_, _> = places.into_iter().map(|place| (place, 0)).collect();
        let mut open: Option<(u32, Counter)> = None;
        for (&(file, offset), number) in &mut numbers {
            let mut counter = match open.take().filter(|(index, _)| *index == file) {
                Some((_, counter)) => counter,
                None => Counter { text: sources.open(file)?, at: 0, lines: 0 },
            };
            *number = counter.lines_before(offset)? + 1;
            open = Some((file, counter));
        }
        Ok(Self(numbers))
    }

    pub(super) fn get(&self, file: u32, offset: u64) -> Option<u64> {
        self.0.get(&(file, offset)).copied()
    }
}

/// Counts the lines of a file on and on.
struct Counter {
    text: At,
    at: u64,
    lines: u64,
}

impl Counter {
    fn lines_before(&mut self, offset: u64) -> io::Result<u64> {
        let mut piece = self.text.by_ref().take(offset - self.at);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = piece.read(&mut buffer)?;
            if count == 0 {
                return Ok(self.lines);
            }
            self.at += count as u64;
            self.lines += memchr::memchr_iter(b'\n', &buffer[..count]).count() as u64;
        }
    }
}
