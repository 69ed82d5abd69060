//! A file that is hashed and counted while it is written.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::manifest::{FileEntry, hexadecimal};
use crate::needles;
use crate::{CorpusError, folder};

/// Bytes that are collected before they are hashed and written. They fit in a second-level cache.
const CHUNK: usize = 1 << 18;

/// The file. Lines are appended to [`Sink::buffer`]; [`Sink::counts`] is the caller's to fill.
pub(crate) struct Sink {
    pub(crate) buffer: Vec<u8>,
    pub(crate) counts: FileEntry,
    file: File,
    hash: Sha256,
    written: u64,
}

impl Sink {
    /// Creates `path` below `dir`, and the folders between.
    pub(crate) fn create(dir: &Path, path: &str, buffer: Vec<u8>) -> Result<Self, CorpusError> {
        let full = dir.join(path);
        let folders = full.parent().map_or(Ok(()), fs::create_dir_all);
        let file = folders.and_then(|()| File::create(&full));
        let counts =
            FileEntry { path: path.to_owned(), needles: needles::none(), ..FileEntry::default() };
        let file = file.map_err(|error| folder(&full, &error))?;
        Ok(Self { buffer, counts, file, hash: Sha256::new(), written: 0 })
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Writes the buffer where it is full, and says whether it did.
    pub(crate) fn flush_full(&mut self) -> Result<bool, CorpusError> {
        let full = self.buffer.len() >= CHUNK;
        if full {
            self.flush()?;
        }
        Ok(full)
    }

    /// Writes what is left; gives the file's entry, and the buffer back.
    pub(crate) fn finish(mut self) -> Result<(FileEntry, Vec<u8>), CorpusError> {
        self.flush()?;
        self.counts.bytes = self.written;
        self.counts.sha256 = hexadecimal(self.hash);
        self.counts.needles.retain(|count| count.lines + count.messages > 0);
        Ok((self.counts, self.buffer))
    }

    fn flush(&mut self) -> Result<(), CorpusError> {
        self.hash.update(&self.buffer);
        let path = Path::new(&self.counts.path);
        self.file.write_all(&self.buffer).map_err(|error| folder(path, &error))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
