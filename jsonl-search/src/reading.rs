//! How a worker gets the bytes of a job.

use std::fs::File;

use crate::clock::{now_ns, since};
use crate::content::Content;
use crate::files::{aligned, read_full};
use crate::kernel::{Plan, Worker};
use crate::parse::Parse;
use crate::{Job, Read, SourceFile, Stream, busy};

/// The least and the most bytes of a read buffer that follows its file: from a page's few reads to
/// what the caches hold.
const ADAPTED_BYTES: (usize, usize) = (16 << 10, 1 << 20);

/// From this size on, to map a file costs less than to copy it.
pub(crate) const MAPPED_BYTES: u64 = 1 << 20;

impl Plan {
    fn buffer_for(&self, bytes: u64) -> usize {
        if !self.buffer_adapts {
            return self.buffer_bytes;
        }
        // One byte more, so that the read that fills it also finds the end.
        let bytes = usize::try_from(bytes + 1).unwrap_or(usize::MAX);
        bytes.clamp(ADAPTED_BYTES.0, ADAPTED_BYTES.1).next_power_of_two()
    }
}

impl<P: Parse> Worker<P> {
    /// Reads and searches the lines of a job, the way that the workload says. Blocks. A file that
    /// cannot be read is reported and counted.
    pub fn search_job(&mut self, job: &Job) {
        let before = self.tally.read_ns;
        let result = match self.plan.texts.clone() {
            Some(texts) => self.read_as_it_is(job, &texts),
            None => self.read_unchanging(job),
        };
        busy::add(self.tally.read_ns - before);
        if let Err(reason) = result {
            self.unreadable(&job.file, reason);
        }
    }

    /// A file cannot be read.
    pub fn unreadable(&mut self, file: &SourceFile, reason: impl ToString) {
        self.unreadable.push((file.index, reason.to_string()));
    }

    /// What an engine of its own way of reading got, and how long it waited.
    pub fn add_read(&mut self, bytes: usize, read_ns: u64) {
        self.tally.bytes_read += bytes as u64;
        self.tally.read_ns += read_ns;
    }

    fn read_unchanging(&mut self, job: &Job) -> Result<(), String> {
        let (file, stream) = (&*job.file, Stream::chunk(&job.chunk));
        match self.plan.read {
            Read::Buffered => self.read_buffered(file, stream),
            Read::Mmap => self.read_mapped(job, stream),
            Read::Auto if file.bytes >= MAPPED_BYTES => self.read_mapped(job, stream),
            Read::Auto => self.read_buffered(file, stream),
        }
    }

    fn read_buffered(&mut self, source: &SourceFile, stream: Stream) -> Result<(), String> {
        let start = now_ns();
        let file = source.open(self.plan.advise).map_err(|error| error.to_string())?;
        self.read_open(&file, source.bytes, stream, start).map(|_| ())
    }

    /// Searches a file of so many bytes, or of unknown ones (0). What a person's file holds is
    /// looked at, and nothing is searched of one that is not plain.
    pub(crate) fn read_open(
        &mut self,
        file: &File,
        bytes: u64,
        mut stream: Stream,
        mut start: i64,
    ) -> Result<Content, String> {
        let is_looked_at = stream.position() == 0 && self.plan.texts.is_some();
        let mut memory = std::mem::take(&mut self.buffer);
        let buffer = aligned(&mut memory, self.plan.buffer_for(bytes));
        let result = loop {
            let is_first = stream.position() == 0;
            let count = match read_full(file, buffer, stream.position(), bytes) {
                Ok(count) => count,
                Err(error) => break Err(error.to_string()),
            };
            self.add_read(count, since(start));
            if is_first && is_looked_at {
                let content = Content::of(&buffer[..count]);
                if content != Content::Plain {
                    break Ok(content);
                }
            }
            if !stream.feed(self, &buffer[..count]) {
                break Ok(Content::Plain);
            }
            if count < buffer.len() {
                stream.finish(self);
                break Ok(Content::Plain);
            }
            start = now_ns();
        };
        self.buffer = memory;
        result
    }

    fn read_mapped(&mut self, job: &Job, mut stream: Stream) -> Result<(), String> {
        let start = now_ns();
        let map = job.file.map(self.plan.advise)?;
        self.tally.read_ns += since(start);
        let position = usize::try_from(stream.position()).unwrap_or(usize::MAX);
        let before = self.tally.bytes;
        if stream.feed(self, map.get(position..).unwrap_or_default()) {
            stream.finish(self);
        }
        self.tally.bytes_read += self.tally.bytes - before;
        Ok(())
    }
}
