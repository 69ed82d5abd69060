//! What a command prints, hashed after its end or while it runs.

use std::{
    fs::File,
    io::{self, PipeReader, Read},
    os::unix::fs::FileExt,
};

use nix::sys::memfd::{MFdFlags, memfd_create};
use sha2::{Digest, Sha256};

/// What is read at once: what a pipe holds.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// A file that the command writes, and that is hashed when the command has ended.
pub(crate) struct Kept {
    file: File,
    /// What it may hold.
    bytes_max: Option<u64>,
}

impl Kept {
    /// A file of no name that takes memory and no disk.
    pub(crate) fn in_memory(bytes_max: u64) -> io::Result<Self> {
        let file = memfd_create("lab-output", MFdFlags::MFD_CLOEXEC)?.into();
        Ok(Self { file, bytes_max: Some(bytes_max) })
    }

    pub(crate) fn of(file: File) -> Self {
        Self { file, bytes_max: None }
    }

    /// The same file for the command.
    pub(crate) fn for_command(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub(crate) fn is_bounded(&self) -> bool {
        self.bytes_max.is_some()
    }

    /// Whether it holds more than it may.
    pub(crate) fn is_full(&self) -> io::Result<bool> {
        let Some(most) = self.bytes_max else { return Ok(false) };
        Ok(self.file.metadata()?.len() > most)
    }

    /// The hash of its bytes, and their number; `None` of what is no file, such as a device, whose
    /// bytes are gone.
    pub(crate) fn hash(&self) -> io::Result<Option<(String, u64)>> {
        let there = self.file.metadata()?;
        if !there.is_file() {
            return Ok(None);
        }
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut piece = [0; PIECE_BYTES];
        // Not what another process, to which the command gave it, writes meanwhile.
        while bytes < there.len() {
            // At places: the command's place in the file is this one's.
            let count = self.file.read_at(&mut piece, bytes)?;
            if count == 0 {
                break;
            }
            hash.update(&piece[..count]);
            bytes += count as u64;
        }
        Ok(Some((hex(hash), bytes)))
    }
}

/// As it is written.
pub(crate) fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The last that comes through a pipe.
pub(crate) struct Last {
    pub(crate) pipe: PipeReader,
    /// Whether the pipe's other end may still be open.
    pub(crate) open: bool,
    bytes: Vec<u8>,
}

impl Last {
    pub(crate) fn of(pipe: PipeReader) -> Self {
        Self { pipe, open: true, bytes: Vec::new() }
    }

    /// Reads what the pipe holds, and returns how much that was.
    pub(crate) fn read(&mut self) -> io::Result<usize> {
        let mut piece = [0; PIECE_BYTES];
        let count = self.pipe.read(&mut piece)?;
        self.open = count > 0;
        self.bytes.extend_from_slice(&piece[..count]);
        let over = self.bytes.len().saturating_sub(PIECE_BYTES);
        self.bytes.drain(..over);
        Ok(count)
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
